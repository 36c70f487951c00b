// Barriers in small random worlds. WORLDS=10000 sets their number. A failure prints the seed that reproduces it:
// SEED=… WORLDS=1. Elections are in test/simulation, with the locks.
import { expect } from 'chai'
import { seed } from '../../support/seeded-random.ts'
import { runWorlds } from '../worlds.ts'
import { meetInWorld, waitInWorld } from './barrier-model.ts'

const worlds = Number(process.env['WORLDS'] ?? 12)

describe(`barriers in ${worlds} random worlds (SEED=${seed})`, () => {
  it('Barrier lets nobody pass while it is up, and everybody when it is down', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, waitInWorld)
    expect(counts).to.include.keys('raised', 'passed', 'waited')
  })

  it('DoubleBarrier lets members enter and leave only together', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, meetInWorld)
    expect(counts).to.include.keys('entered', 'gave up', 'left')
  })
})
