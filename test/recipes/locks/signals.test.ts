// The caller's signal: it aborts before each frame of an attempt in turn, and nothing of the attempt stays.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { connect, type Client } from '../../../src/index.ts'
import {
  LeaderElection,
  MultiLock,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  revoke,
  Semaphore,
  TicketMutex,
  type Held,
  type WaitOptions,
} from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { settle, VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { outcomeOf } from '../../support/settled.ts'
import { kinds } from './exclusive-kinds.ts'

type Attempt = (client: Client, options: WaitOptions) => Promise<Held | null>

const attempts: Readonly<Record<string, Attempt>> = {
  ...Object.fromEntries(
    kinds.flatMap(({ Lock }): [string, Attempt][] => [
      [`acquire() of ${Lock.name}`, (client, options) => new Lock(client, '/lock').acquire(options)],
      [`tryAcquire() of ${Lock.name}`, (client, options) => new Lock(client, '/lock').tryAcquire(options)],
    ]),
  ),
  'acquire() of a read lock': (client, options) => new ReadWriteLock(client, '/lock').readLock.acquire(options),
  'acquire() of a write lock': (client, options) => new ReadWriteLock(client, '/lock').writeLock.acquire(options),
  'acquire() of Semaphore': (client, options) => new Semaphore(client, '/lock', 1).acquire(options),
  'tryAcquire() of Semaphore': (client, options) => new Semaphore(client, '/lock', 1).tryAcquire(options),
  'acquire() of ReentrantMutex': (client, options) => new ReentrantMutex(client, '/lock').acquire(options),
  'tryAcquire() of ReentrantMutex': (client, options) => new ReentrantMutex(client, '/lock').tryAcquire(options),
  'acquire() of MultiLock': (client, options) =>
    new MultiLock([new Mutex(client, '/lock'), new TicketMutex(client, '/other')]).acquire(options),
  'tryAcquire() of MultiLock': (client, options) =>
    new MultiLock([new Mutex(client, '/lock'), new TicketMutex(client, '/other')]).tryAcquire(options),
  'campaign() of LeaderElection': (client, options) => new LeaderElection(client, '/lock').campaign(options),
}

const reads: Readonly<Record<string, (client: Client, options: WaitOptions) => Promise<unknown>>> = {
  ...Object.fromEntries(
    kinds.map(({ Lock }) => [
      `contenders() of ${Lock.name}`,
      (client, options) => new Lock(client, '/lock').contenders(options),
    ]),
  ),
  'contenders() of Semaphore': (client, options) => new Semaphore(client, '/lock', 1).contenders(options),
  'contenders() of ReentrantMutex': (client, options) => new ReentrantMutex(client, '/lock').contenders(options),
  'available() of Semaphore': (client, options) => new Semaphore(client, '/lock', 1).available(options),
  'revoke()': (client, options) => revoke(client, '/lock', options),
}

/** Aborts a controller at the nth frame, sent or received. */
class Abortion {
  readonly #abort = new AbortController()
  #left: number

  constructor(nth: number) {
    this.#left = nth
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  readonly onFrame = (): void => {
    if (--this.#left === 0) this.#abort.abort(new Error('cancelled'))
  }
}

const nothing = (): void => undefined
const turns = async () => {
  for (let i = 0; i < 30; i++) await settle()
}

describe('a signal that aborts at each frame', () => {
  for (const [name, attempt] of Object.entries(attempts))
    for (const isTaken of [false, true])
      it(`of ${name} leaves no node, watch or listener${isTaken ? ', behind two others' : ''}`, async () => {
        let isOver = false
        for (let nth = 1; !isOver; nth++) {
          const clock = new VirtualClock()
          await using server = await Server.start({ clock, listen: false })
          const options = { dial: server.dial, clock }
          const open = () => clock.until(connect(server.connectString, options))
          const abortion = new Abortion(nth)
          let onFrame = nothing
          const client = await clock.until(connect(server.connectString, { ...options, onFrame: () => onFrame() }))
          const rivals: Promise<Held | null>[] = []
          const [one, two] = [await open(), await open()]
          if (isTaken)
            for (const rival of [one, two]) {
              rivals.push(attempt(rival, {}))
              await turns()
            }
          onFrame = abortion.onFrame
          const outcome = outcomeOf(attempt(client, { signal: abortion.signal }))
          await turns()
          if (abortion.signal.aborted) {
            await clock.until(outcome)
            await clock.until(client.settled())
            const { watches, sessions } = server.snapshot()
            const ours = sessions.filter(({ id }) => id === client.sessionId).flatMap(({ ephemerals }) => ephemerals)
            const watching = watches.filter(({ session }) => session === client.sessionId)
            if ((await outcome) instanceof Error) expect([watching, ours], `frame ${nth}`).to.deep.equal([[], []])
          }
          for (const rival of rivals) await clock.until(rival.then(held => held?.release()))
          const held = await clock.until(outcome, { within: 60_000 })
          onFrame = nothing
          isOver = !abortion.signal.aborted
          if (held !== null && !(held instanceof Error)) await clock.until((held as Held).release())
          await clock.until(client.settled())
          await clock.until(Promise.all([one.settled(), two.settled()]))
          await turns()
          const { watches, sessions } = server.snapshot()
          expect(getEventListeners(abortion.signal, 'abort'), `listeners, frame ${nth}`).to.deep.equal([])
          expect(watches, `watches, frame ${nth}`).to.deep.equal([])
          expect(
            sessions.flatMap(({ ephemerals }) => ephemerals),
            `nodes, frame ${nth}`,
          ).to.deep.equal([])
          for (const each of [client, one, two]) await clock.until(each.close())
          await server.close()
          expect(clock.pendingTimers, `timers, frame ${nth}`).to.equal(0)
        }
      })

  for (const [name, read] of Object.entries(reads))
    it(`of ${name} leaves no listener, and rejects the call`, async () => {
      let isOver = false
      for (let nth = 1; !isOver; nth++) {
        const clock = new VirtualClock()
        await using server = await Server.start({ clock, listen: false })
        const abortion = new Abortion(nth)
        let onFrame = nothing
        const options = { dial: server.dial, clock, onFrame: () => onFrame() }
        const client = await clock.until(connect(server.connectString, options))
        await clock.until(client.ensurePath('/lock/leases'))
        onFrame = abortion.onFrame
        const outcome = await clock.until(outcomeOf(read(client, { signal: abortion.signal })))
        onFrame = nothing
        isOver = !abortion.signal.aborted
        if (outcome instanceof Error) expect(outcome).to.equal(abortion.signal.reason)
        expect(getEventListeners(abortion.signal, 'abort')).to.deep.equal([])
        await clock.until(client.close())
        await server.close()
        expect(clock.pendingTimers).to.equal(0)
      }
    })
})
