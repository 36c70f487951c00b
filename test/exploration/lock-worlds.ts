// The worlds of the locks: each process acquires a lock once, works, and releases it.
import type { Client } from '../../src/index.ts'
import { MultiLock, Mutex, ReadWriteLock, ReentrantMutex, Semaphore, TicketMutex } from '../../src/recipes/index.ts'
import type { Lock } from '../../src/recipes/locks/lock.ts'
import type { Server } from '../../src/server/index.ts'
import { violations } from '../linearizability/invariants.ts'
import { lockKinds } from '../linearizability/lock-kinds.ts'
import type { AttemptOptions } from '../linearizability/recorder.ts'
import { kinds, type Kind, type Locks } from '../linearizability/tenures.ts'
import { transactionOf } from '../linearizability/transaction-log.ts'
import { WALL_AHEAD } from './process-clock.ts'
import { PeerLock } from './peers.ts'
import { SESSION_TIMEOUT, type Scenario } from './world.ts'

const PATH = '/lock'
export const names = ['anna', 'ben', 'cleo', 'dan']

interface LockWorld {
  name: string
  /** @param nth the number of the contender, from 0 */
  make: (client: Client, path: string, nth: number) => Lock
  kind: Kind
  /** The locks that this lock uses internally. */
  inner?: Locks
  options?: (nth: number) => AttemptOptions
  /** Prepares the server after the lock was held once. */
  prepare?: (server: Server) => void
  /** True if the contenders do not all want the same. */
  areDifferent?: boolean
}

interface Contention {
  /** True if nobody has used the lock before, so that the contenders also create its directory. */
  isNew?: boolean
  /** How long each holder works, ms. By default it works until the explorer chooses that it ends, and no time passes. */
  worksFor?: number
  /** True if a contender that gives up tries once more. */
  triesAgain?: boolean
}

export function contention(
  { name, make, kind, inner = new Map(), options, prepare, areDifferent = false }: LockWorld,
  contenders: number,
  { isNew = false, worksFor, triesAgain = false }: Contention = {},
): Scenario {
  const variants = [
    `${contenders} contender${contenders === 1 ? '' : 's'}`,
    ...(isNew ? ['for a new lock'] : []),
    ...(worksFor === undefined ? [] : [`work for ${worksFor} ms`]),
    ...(triesAgain ? ['try again'] : []),
  ]
  return {
    name: [name, ...variants].join(', '),
    processes: names.slice(0, contenders),
    areAlike: !areDifferent,
    hasOperator: true,
    ...(!isNew && {
      prepare: async (client, server) => {
        await (await make(client, PATH, 0).acquire()).release()
        prepare?.(server)
      },
    }),
    async run(process, contender) {
      const { nth } = process
      const work = () =>
        worksFor === undefined ? process.step('has the lock, and ends its work') : process.pause(worksFor)
      const attempt = async (signal: AbortSignal) => {
        await contender.attempt(make(contender.client, PATH, nth), work, { signal, ...options?.(nth) })
        return signal.aborted
      }
      const hasGivenUp = await process.abortable(attempt)
      if (hasGivenUp && triesAgain) await process.abortable(attempt)
    },
    judge: ({ events, log }) =>
      violations({
        locks: new Map([[PATH, kind], ...inner]),
        events,
        log: log.map(transactionOf),
        wallClockOffset: WALL_AHEAD,
        patience: Infinity,
        grace: SESSION_TIMEOUT + 500,
      }).map(({ rule, what }) => `${rule}: ${what}`),
  }
}

export const mutex: LockWorld = { name: 'Mutex', make: (client, path) => new Mutex(client, path), kind: kinds.queue }

export const textbook: LockWorld = {
  name: 'Mutex without look-ahead',
  make: (client, path) => new Mutex(client, path, { lookAhead: false }),
  kind: kinds.queue,
}

export const ticketMutex: LockWorld = {
  name: 'TicketMutex',
  make: (client, path) => new TicketMutex(client, path),
  kind: kinds.tickets,
}

/** The next ticket is the last one of its life. A contender that comes later begins the next life. */
export const lastTicket: LockWorld = {
  ...ticketMutex,
  name: 'TicketMutex with one ticket left in its life',
  prepare(server) {
    const life = [...server.snapshot().nodes.keys()].find(path => path.startsWith(`${PATH}/`)) ?? ''
    server.setSequenceCounter(life, 0x7fff_fffe)
  },
}

export const reentrantMutex: LockWorld = {
  name: 'ReentrantMutex',
  make: (client, path) => new ReentrantMutex(client, path),
  kind: kinds.queue,
  options: nth => ({ owner: names[nth] }),
}

/** The first contender writes and then reads, and the others read. */
export const readWriteLock: LockWorld = {
  name: 'ReadWriteLock, a writer with a downgrade, and readers',
  make: (client, path, nth) => {
    const lock = new ReadWriteLock(client, path)
    return nth === 0 ? lock.writeLock : lock.readLock
  },
  kind: kinds.readWrite,
  areDifferent: true,
  options: nth => ({ owner: names[nth], downgrade: true }),
}

/** The first contender reads, and the others write. */
export const writers: LockWorld = {
  ...readWriteLock,
  name: 'ReadWriteLock, a reader and writers',
  make: (client, path, nth) => {
    const lock = new ReadWriteLock(client, path)
    return nth === 0 ? lock.readLock : lock.writeLock
  },
  options: nth => ({ owner: names[nth] }),
}

export const semaphore = (permits: number): LockWorld => ({
  name: `Semaphore of ${permits}`,
  make: (client, path) => new Semaphore(client, path, permits),
  kind: kinds.semaphore(permits),
  inner: new Map([[`${PATH}/locks`, kinds.gate]]),
})

/** The first contender takes both permits at once, and the others take one each. */
export const bothPermits: LockWorld = {
  ...semaphore(2),
  name: 'Semaphore of 2, the first takes both permits',
  options: nth => ({ permits: nth === 0 ? 2 : 1 }),
  areDifferent: true,
}

const election = lockKinds.get('/election')

export const leaderElection: LockWorld = {
  name: 'LeaderElection',
  make: (client, path) => (election as NonNullable<typeof election>).make(client, path, () => 0),
  kind: kinds.queue,
}

/** Each contender names the two locks in another order. */
export const multiLock: LockWorld = {
  name: 'MultiLock of 2',
  make: (client, path, nth) => {
    const locks = [new Mutex(client, '/first'), new Mutex(client, path)]
    // The recorder asks for the path of the lock that is acquired last.
    return Object.assign(new MultiLock(nth === 0 ? locks : locks.reverse()), { path }) as unknown as Lock
  },
  kind: kinds.queue,
  inner: new Map([['/first', kinds.gate]]),
  areDifferent: true,
}

/** The first contender has our lock, and the others are of another library. */
export const mixed = (dialect: 'curator' | 'kazoo'): LockWorld => ({
  name: `Mutex, then ${dialect === 'kazoo' ? "kazoo's Lock" : "Curator's InterProcessMutex"}`,
  make: (client, path, nth) => (nth === 0 ? new Mutex(client, path, { dialect }) : new PeerLock(client, path, dialect)),
  kind: kinds.queue,
  areDifferent: true,
})

/** The contenders are of another library, but the last one has our lock. */
export const mixedAfter = (dialect: 'curator' | 'kazoo'): LockWorld => ({
  ...mixed(dialect),
  name: `${dialect === 'kazoo' ? "kazoo's Lock" : "Curator's InterProcessMutex"}, then Mutex`,
  make: (client, path, nth) => (nth === 0 ? new PeerLock(client, path, dialect) : new Mutex(client, path, { dialect })),
})
