// How far each world is explored. `quick` is part of `npm test`; `full` needs `npm run suite -- exploration`, and `deep` its
// argument `--deep`.
import {
  appenders,
  barrier,
  cache,
  consumers,
  increments,
  partitioner,
  persistentEphemeral,
  rendezvous,
} from './data-worlds.ts'
import type { Exploration } from './explorer.ts'
import {
  bothPermits,
  contention,
  lastTicket,
  leaderElection,
  mixed,
  mixedAfter,
  multiLock,
  mutex,
  readWriteLock,
  reentrantMutex,
  semaphore,
  textbook,
  ticketMutex,
  writers,
} from './lock-worlds.ts'
import { onThreeServers, type FaultKind, type Scenario } from './world.ts'

export interface Bound extends Exploration {
  readonly size: 'quick' | 'full' | 'deep'
}

/** The faults that strike at one moment. */
const STRUCK: readonly FaultKind[] = ['expire', 'abort', 'delete', 'cut']

type Make = (scenario: Scenario, faults?: number, kinds?: readonly FaultKind[]) => Bound

const quick: Make = (scenario, faults = 0, kinds = STRUCK) => ({ scenario, faults, kinds, size: 'quick' })
const full: Make = (scenario, faults = 0, kinds = STRUCK) => ({ scenario, faults, kinds, size: 'full' })
const deep: Make = (scenario, faults = 0, kinds = STRUCK) => ({ scenario, faults, kinds, size: 'deep' })

/** Holders work for a while, in which those that were cut off connect again. */
const working = { worksFor: 100 }

export const explorations: readonly Bound[] = [
  quick(contention(mutex, 1), 1),
  quick(contention(mutex, 2), 1),
  quick(contention(mutex, 2, working), 1),
  quick(contention(mutex, 3, working), 1, ['abort']),
  quick(contention(ticketMutex, 2), 1, ['delete']),
  quick(contention(ticketMutex, 2, { ...working, triesAgain: true }), 1, ['abort']),
  quick(contention(lastTicket, 2)),
  quick(contention(reentrantMutex, 2)),
  quick(contention(readWriteLock, 2)),
  quick(contention(writers, 2)),
  quick(contention(leaderElection, 2)),
  quick(contention(multiLock, 2)),
  quick(contention(semaphore(1), 2)),
  quick(contention(bothPermits, 2, working)),
  quick(contention(mixed('kazoo'), 2)),
  quick(contention(mixedAfter('kazoo'), 2)),
  quick(increments(2), 1),
  quick(appenders(2), 1, ['cut']),
  quick(barrier(1), 1),
  quick(persistentEphemeral, 1),
  quick(cache),
  full(contention(mutex, 2, { isNew: true })),
  full(contention(mutex, 2), 1, ['answers']),
  full(contention(mutex, 2), 1, ['requests']),
  full(contention(mutex, 2), 1, ['process']),
  full(contention(mutex, 3)),
  full(contention(textbook, 2), 1),
  full(contention(textbook, 3)),
  full(contention(ticketMutex, 2), 1),
  full(contention(ticketMutex, 2, working), 1),
  full(contention(ticketMutex, 2), 1, ['answers']),
  full(contention(ticketMutex, 2), 1, ['requests']),
  full(contention(ticketMutex, 2), 1, ['process']),
  full(contention(ticketMutex, 3)),
  full(contention(lastTicket, 2), 1),
  full(contention(reentrantMutex, 2), 1),
  full(contention(readWriteLock, 2), 1),
  full(contention(writers, 2), 1),
  full(contention(readWriteLock, 3, working)),
  full(contention(writers, 3)),
  full(contention(multiLock, 2), 1, ['abort']),
  full(contention(semaphore(1), 2, working), 1),
  full(contention(semaphore(2), 3, working)),
  full(contention(bothPermits, 2, working), 1),
  full(contention(bothPermits, 2)),
  full(contention(leaderElection, 2), 1),
  full(contention(mixed('kazoo'), 2), 1),
  full(contention(mixedAfter('kazoo'), 2), 1),
  full(contention(mixed('curator'), 2), 1),
  full(contention(mixedAfter('curator'), 2), 1),
  full(contention(mixed('kazoo'), 3)),
  full(contention(mixedAfter('curator'), 3)),
  full(appenders(2), 1),
  full(barrier(1), 2),
  full(barrier(2), 1),
  full(cache, 1),
  full(onThreeServers(contention(mutex, 1)), 1, ['lag']),
  full(onThreeServers(contention(mutex, 2)), 1, ['lag']),
  full(increments(2), 2),
  full(persistentEphemeral, 2),
  full(contention(mutex, 3), 1, ['abort']),
  full(contention(ticketMutex, 3, working), 1, ['abort']),
  full(contention(mutex, 1), 2),
  full(consumers),
  full(contention(mutex, 3, working), 1),
  full(contention(mutex, 2, working), 2),
  full(contention(lastTicket, 3, working)),
  full(contention(lastTicket, 3)),
  full(contention(readWriteLock, 3)),
  full(contention(semaphore(2), 3)),
  full(consumers, 1),
  full(partitioner(['a'])),
  full(partitioner(['a', 'b'])),
  full(contention(multiLock, 2), 1),
  full(rendezvous(2)),
  full(contention(mutex, 3), 1),
  full(contention(mutex, 2), 2),
  deep(contention(mutex, 1), 3),
  deep(contention(mutex, 3), 2),
  deep(contention(textbook, 3), 1),
  deep(contention(ticketMutex, 2), 2),
  deep(contention(ticketMutex, 3), 1),
  deep(contention(lastTicket, 3), 2),
  deep(contention(readWriteLock, 2), 2),
  deep(rendezvous(2), 1),
  deep(onThreeServers(contention(ticketMutex, 2)), 1, ['lag']),
]
