// Pauses of an embedded server, of one process or of an ensemble, again and again, in virtual time: nothing happens in a
// pause, and all goes on after it.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import type { Member, ServerOptions } from '../../src/server/index.ts'
import { outcomeOf, trackSettled } from '../support/settled.ts'
import { ELECTION, TICK, VirtualEnsemble } from '../support/virtual-ensemble.ts'

const T = 10 * TICK
const NUMBERED = { mode: 'persistentSequential' } as const

interface World {
  options: ServerOptions
  /** The server of the clients; undefined in a world of one server. */
  at?: 'leader' | 'follower'
}

const worlds: Readonly<Record<string, World>> = {
  'a single server': { options: { servers: 1 } },
  'a leader': { options: {}, at: 'leader' },
  'a follower': { options: {}, at: 'follower' },
  'a leader with local sessions': { options: { localSessions: true }, at: 'leader' },
  'a follower with local sessions': { options: { localSessions: true }, at: 'follower' },
}

describe('a pause of all servers', () => {
  let ensemble: VirtualEnsemble
  const clients: Client[] = []

  afterEach(async () => {
    await ensemble.until(Promise.all(clients.splice(0).map(client => client.close())))
    await ensemble.close()
    expect(ensemble.clock.pendingTimers).to.equal(0)
  })

  /** Starts the servers. Returns a function that opens a client of the one that the world names. */
  async function start({ options, at }: World, more: ServerOptions = {}): Promise<() => Promise<Client>> {
    ensemble = await VirtualEnsemble.start({ ...options, ...more })
    const { server, clock } = ensemble
    return async () => {
      const { connectString, dial } = at === undefined ? server : at === 'leader' ? ensemble.leader : ensemble.others[0]
      const client = await clock.until(connect(connectString, { dial, clock, sessionTimeout: T }))
      clients.push(client)
      return client
    }
  }

  const isServed = async (client: Client) => {
    const isDone = trackSettled(client.retry(() => client.sync('/')))
    await ensemble.clock.advance(2 * TICK)
    return isDone()
  }
  const nodes = () => [...ensemble.server.snapshot().nodes.keys()]

  for (const [where, world] of Object.entries(worlds))
    describe(`(clients of ${where})`, () => {
      it('lets no session expire and no container go, and then both go on, again and again', async () => {
        const open = await start(world, { containerCheckInterval: TICK })
        const { server, clock } = ensemble
        for (const nth of [1, 2, 3]) {
          const client = await open()
          const { sessionId } = client
          const container = `/container-${nth}`
          await ensemble.until(client.multi([{ create: container, mode: 'container' }, { create: `${container}/a` }]))
          await ensemble.until(client.delete(`${container}/a`))
          server.pause()
          server.pause()
          await clock.advance(5 * T)
          expect(nodes(), `${nth}`).to.include(container)
          const isLocal = world.options.localSessions === true
          const kept = server.snapshot().sessions.map(({ id }) => id)
          if (!isLocal) expect(kept, `${nth}`).to.include(sessionId)
          server.resume()
          server.resume()
          await clock.advance(2 * TICK)
          expect(nodes(), `${nth}`).not.to.include(container)
          // A client that is silent at the end of the pause has been silent for too long.
          if (isLocal) expect([client.state, client.sessionId], `${nth}`).to.deep.equal(['connected', sessionId])
        }
        expect(await isServed(await open())).to.equal(true)
      })

      it('keeps back replies and those that a fault releases meanwhile, again and again', async () => {
        const client = await (await start(world))()
        const { server, clock } = ensemble
        for (const nth of [1, 2, 3]) {
          const held = server.faults.hold('exists')
          const calls = [client.exists('/'), client.getData('/')]
          await clock.until(held.triggered)
          server.pause()
          const settled = [...calls, client.sync('/')].map(trackSettled)
          held.release()
          await clock.advance(TICK)
          expect(
            settled.map(isDone => isDone()),
            `${nth}`,
          ).to.deep.equal([false, false, false])
          server.resume()
          await clock.advance(1)
          expect(
            settled.map(isDone => isDone()),
            `${nth}`,
          ).to.deep.equal([true, true, true])
        }
      })

      const ends: Readonly<Record<string, () => Promise<void>>> = {
        'is ended by a stop': async () => {
          ensemble.server.pause()
          await ensemble.server.stop()
        },
        'does nothing to servers that are stopped': async () => {
          await ensemble.server.stop()
          ensemble.server.pause()
        },
      }
      it('cannot be ended after a stop, so sessions are kept until the start', async () => {
        const open = await start({ ...world, options: { ...world.options, localSessions: false } })
        const { server, clock } = ensemble
        const { sessionId } = await open()
        await server.stop()
        server.resume()
        await clock.advance(3 * T)
        expect(server.snapshot().sessions.map(({ id }) => id)).to.include(sessionId)
        await server.start()
      })

      for (const [how, end] of Object.entries(ends))
        it(how, async () => {
          const open = await start(world)
          await end()
          await ensemble.server.start()
          await ensemble.clock.advance(TICK)
          expect(await isServed(await open())).to.equal(true)
        })

      const callbacks: Readonly<Record<string, (clients: readonly Client[]) => void>> = {
        'the first request after it': all =>
          all.forEach(client => void outcomeOf(client.create('/again-', '', NUMBERED))),
        'the end of a session': ([, other]) => void ensemble.server.expireSession((other as Client).sessionId),
      }
      for (const [what, happen] of Object.entries(callbacks))
        it(`begins again if a callback pauses the servers at ${what}`, async () => {
          let pauses = 0
          const onTransaction: ServerOptions['onTransaction'] = () => {
            if (isArmed && pauses++ === 0) ensemble.server.pause()
          }
          let isArmed = false
          const open = await start({ ...world, options: { ...world.options, localSessions: false } }, { onTransaction })
          const { server, clock } = ensemble
          const last = [await open(), await open(), await open()].at(-1)?.sessionId
          server.pause()
          isArmed = true
          happen(clients)
          await clock.advance(0)
          server.resume()
          await clock.advance(5 * T)
          // A leader commits what it has executed in the same turn.
          expect(pauses, 'transactions').to.be.within(1, world.at === undefined ? 1 : 3)
          expect(server.snapshot().sessions.map(({ id }) => id)).to.include(last)
          server.resume()
          expect(await isServed(await open())).to.equal(true)
        })
    })
})

describe('a pause during an election', () => {
  const paused: Readonly<Record<string, (ensemble: VirtualEnsemble) => readonly Member[]>> = {
    'one server': ({ server }) => server.members.slice(0, 1),
    'two servers': ({ server }) => server.members.slice(1),
    'all servers': ({ server }) => server.members,
  }
  for (const [who, those] of Object.entries(paused))
    for (const [length, ms] of Object.entries({ short: ELECTION / 2, long: 3 * ELECTION }))
      it(`of ${who} delays it by no more than that, at each moment (${length})`, async () => {
        const ensemble = await VirtualEnsemble.start()
        const { server, clock } = ensemble
        for (let moment = 0; moment <= ELECTION; moment += ELECTION / 4) {
          await clock.advance(2 * TICK)
          void outcomeOf(server.elect())
          await clock.advance(moment)
          const members = those(ensemble)
          for (const each of members) each.pause()
          await clock.advance(ms)
          for (const each of members) each.resume()
          await clock.advance(ELECTION)
          expect(ensemble.modes.toSorted(), `after ${moment} ms`).to.deep.equal(['follower', 'follower', 'leader'])
        }
        await ensemble.close()
      })
})

describe('a server that is paused', () => {
  const happenings: Readonly<Record<string, (ensemble: VirtualEnsemble) => unknown>> = {
    'its leader stops': ({ leader }) => leader.stop(),
    'its leader is cut off': ({ leader }) => leader.cutOff(),
    'an election is held': ({ server }) => void outcomeOf(server.elect()),
  }
  for (const [what, happen] of Object.entries(happenings))
    it(`notices nothing until it goes on: ${what}`, async () => {
      const ensemble = await VirtualEnsemble.start()
      const { server, clock } = ensemble
      const [follower] = ensemble.others
      await clock.advance(2 * TICK)
      const { mode, epoch } = follower
      follower.pause()
      await happen(ensemble)
      await clock.advance(3 * TICK)
      expect([follower.mode, follower.epoch]).to.deep.equal([mode, epoch])
      follower.resume()
      server.heal()
      await server.start()
      await clock.advance(10 * TICK)
      expect(ensemble.modes.toSorted()).to.deep.equal(['follower', 'follower', 'leader'])
      await ensemble.close()
    })
})

describe('a follower that has lost its leader', () => {
  it('serves a client again whose handshakes the leader has never answered', async () => {
    const ensemble = await VirtualEnsemble.start()
    const { clock } = ensemble
    const [follower] = ensemble.others
    const client = await ensemble.openAt([follower], { sessionTimeout: 2 * T })
    follower.cutOff()
    for (let i = 0; i < 3; i++) {
      follower.dropConnections()
      await clock.advance(TICK)
    }
    await clock.advance(5 * TICK)
    expect(follower.mode).to.equal('looking')
    follower.heal()
    await clock.advance(4 * TICK)
    expect([follower.mode, client.state]).to.deep.equal(['follower', 'connected'])
    await ensemble.close()
  })
})
