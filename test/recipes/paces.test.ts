// Loops that go round at once, because of what a server or another client does each time: they pause, and go on.
import { expect } from 'chai'
import type { Client, ObservedFrame } from '../../src/index.ts'
import {
  EphemeralMutex,
  LeaderElection,
  MultiLock,
  Mutex,
  Queue,
  ReadWriteLock,
  Semaphore,
  TicketMutex,
  type Lock,
} from '../../src/recipes/index.ts'
import type { OperationName } from '../../src/server/control/faults.ts'
import type { ServerErrorCode } from '../../src/protocol/index.ts'
import { opcodesInto } from '../support/sent-opcodes.ts'
import { turns } from '../support/turns.ts'
import { end, PATH, Stage, type Scene } from './public-calls.ts'
import { outcomeOf } from '../support/settled.ts'

/** More requests than a loop with pauses sends in ten seconds. */
const MOST = 1000

interface Loop {
  before?: (scene: Scene) => Promise<unknown>
  /** The errors with which the server replies to each request of these kinds. */
  replies?: Partial<Record<OperationName, ServerErrorCode>>
  /** Another client deletes each node of the client with such a path, at once. */
  deletes?: RegExp
  call: (scene: Scene, signal: AbortSignal) => Promise<unknown>
}

const used =
  (Lock: typeof TicketMutex | typeof Mutex) =>
  ({ other }: Scene) =>
    new Lock(other, PATH).use(() => undefined)

/** Waits for a lock that another process holds until the wait ends. */
const behindOne =
  (make: (client: Client) => Lock): Loop['call'] =>
  async ({ client, other }, signal) => {
    const held = await make(other).acquire()
    const outcome = await outcomeOf(make(client).acquire({ signal }))
    await held.release()
    return outcome
  }

const loops: Readonly<Record<string, Loop>> = {
  'lead() whose function returns at once': {
    call: ({ client }, signal) => new LeaderElection(client, PATH).lead(() => undefined, { signal }),
  },
  'a Mutex whose directory is missing each time': {
    replies: { create2: 'NONODE' },
    call: ({ client }, signal) => new Mutex(client, PATH).acquire({ signal }),
  },
  'a Mutex whose node is deleted each time': {
    before: used(Mutex),
    deletes: /^\/recipe\/_c_/,
    call: behindOne(client => new Mutex(client, PATH)),
  },
  'an EphemeralMutex whose node exists when it is created, and not when it is watched': {
    replies: { create2: 'NODEEXISTS' },
    call: ({ client }, signal) => new EphemeralMutex(client, PATH).acquire({ signal }),
  },
  'a TicketMutex whose life is begun by another client each time': {
    before: ({ other }) => other.create(PATH),
    replies: { multi: 'BADVERSION' },
    call: ({ client }, signal) => new TicketMutex(client, PATH).acquire({ signal }),
  },
  'a TicketMutex whose life has ended each time': {
    before: used(TicketMutex),
    replies: { create2: 'NONODE' },
    call: ({ client }, signal) => new TicketMutex(client, PATH).acquire({ signal }),
  },
  'a TicketMutex whose numbers are used up, and whose last ticket is deleted before it is watched each time': {
    before: used(TicketMutex),
    replies: { create2: 'NODEEXISTS', multi: 'NOTEMPTY' },
    call: ({ client }, signal) => new TicketMutex(client, PATH).acquire({ signal }),
  },
  'a Mutex whose predecessor exists when it is listed, and not when it is watched': {
    replies: { getData: 'NONODE' },
    call: behindOne(client => new Mutex(client, PATH)),
  },
  'a writer whose predecessor exists when it is listed, and not when it is watched': {
    replies: { getData: 'NONODE' },
    call: behindOne(client => new ReadWriteLock(client, PATH).writeLock),
  },
  'a Semaphore whose gate is deleted each time': {
    deletes: /\/locks\//,
    call: behindOne(client => new Semaphore(client, PATH, 1)),
  },
  'a MultiLock of which one lock is deleted each time': {
    deletes: /\/first\//,
    call: async ({ client, other }, signal) => {
      const held = await new Mutex(other, '/second').acquire()
      const both = new MultiLock([new Mutex(client, '/first'), new Mutex(client, '/second')])
      const outcome = await outcomeOf(both.acquire({ signal, watchOwnNode: true }))
      await held.release()
      return outcome
    },
  },
  'a put() whose directory is missing each time': {
    replies: { multi: 'NONODE' },
    call: ({ client, closeLater }, signal) => closeLater(new Queue(client, PATH)).put('x', { signal }),
  },
  'a reader whose directory is missing each time': {
    replies: { create2: 'NONODE' },
    call: ({ client }, signal) => new ReadWriteLock(client, PATH).readLock.acquire({ signal }),
  },
}

describe('a loop that goes round at once', () => {
  for (const [name, { before, replies = {}, deletes, call }] of Object.entries(loops))
    it(`${name} pauses, and goes on`, async () => {
      const sent: number[] = []
      const stop = new AbortController()
      const count = opcodesInto(sent)
      const onFrame = (frame: ObservedFrame) => {
        count(frame)
        // A loop that does not pause would leave no time to anything else.
        if (sent.length > MOST) stop.abort(new Error('it does not pause'))
      }
      const stage = await Stage.open({ onFrame })
      const { clock, scene, server } = stage
      const { client, other } = scene
      await clock.until(Promise.resolve(before?.(scene)))
      for (const [kind, code] of Object.entries(replies))
        server.faults.replace(kind as OperationName, code, { session: client.sessionId, times: Infinity })
      const outcome = outcomeOf(call(scene, stop.signal))
      await turns()
      const deleteAll = async () => {
        for (const path of stage.owned.nodes)
          if (deletes?.test(path)) await other.delete(path).catch((error: unknown) => error)
      }
      const lastFor = async (ms: number) => {
        const step = deletes === undefined ? ms : 5
        for (let passed = 0; passed < ms; passed += step) {
          if (deletes !== undefined) await clock.until(deleteAll())
          await clock.advance(step)
        }
      }
      await lastFor(10_000)
      sent.length = 0
      await lastFor(10_000)
      expect(sent.length, 'requests in ten seconds').to.be.within(8, 200)
      stop.abort(new Error('stopped'))
      await clock.until(outcome.then(end))
      server.faults.clear()
      await clock.until(client.settled())
      await stage.close()
    })
})
