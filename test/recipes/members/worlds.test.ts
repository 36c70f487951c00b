// Members and services in small random worlds. WORLDS=10000 sets their number. A failure prints the seed that reproduces
// it: SEED=… WORLDS=1. Partitioners are in test/simulation.
import { expect } from 'chai'
import { seed } from '../../support/seeded-random.ts'
import { runWorlds } from '../worlds.ts'
import { keepInWorld, memberships, persistentEphemerals } from './kept-model.ts'
import { serveInWorld } from './services-model.ts'

const worlds = Number(process.env['WORLDS'] ?? 12)

describe(`members in ${worlds} random worlds (SEED=${seed})`, () => {
  for (const [name, making] of Object.entries({ PersistentEphemeral: persistentEphemerals, Membership: memberships }))
    it(`${name} keeps its node with its data in the last session, until close() has deleted it`, async function () {
      this.timeout(20_000 + 1000 * worlds)
      const counts = await runWorlds(worlds, (worldSeed, happened) => keepInWorld(making, worldSeed, happened))
      expect(counts).to.include.keys('started', 'set', 'closed', 'failed')
    })

  // The world found a planted bug: after such a reconnect, each later write waited for ever.
  it('Membership writes after a reconnect that sets watches of both kinds again (SEED=2010930498)', async () => {
    expect(await keepInWorld(memberships, 2010930498, () => undefined)).to.deep.equal([])
  })

  it('Membership tells nobody of a write that the server refuses because it has expired the session (SEED=1781768900)', async () => {
    expect(await keepInWorld(memberships, 1781768900, () => undefined)).to.deep.equal([])
  })

  it('Services have exactly the instances that are registered, in each session', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, serveInWorld)
    expect(counts).to.include.keys('registered', 'updated', 'closed', 'failed')
  })
})
