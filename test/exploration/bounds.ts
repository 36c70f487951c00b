// How far each world is explored. `quick` is part of `npm test`; `full` needs `npm run test:exploration`, and `deep` its
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
  contention,
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
  /** It stops after this number of states. Default: it goes on to the end. */
  readonly mostStates?: number
}

/** The faults that need no time. */
const INSTANT: readonly FaultKind[] = ['expire', 'abort', 'delete']
const STRUCK: readonly FaultKind[] = [...INSTANT, 'cut']

type Make = (scenario: Scenario, faults?: number, kinds?: readonly FaultKind[]) => Bound

const quick: Make = (scenario, faults = 0, kinds = STRUCK) => ({ scenario, faults, kinds, size: 'quick' })
const full: Make = (scenario, faults = 0, kinds = STRUCK) => ({ scenario, faults, kinds, size: 'full' })
const deep: Make = (scenario, faults = 0, kinds = STRUCK) => ({ scenario, faults, kinds, size: 'deep' })
/** Has no end within the time of a run. */
const begun: Make = (...bound) => ({ ...full(...bound), mostStates: 20_000 })

export const explorations: readonly Bound[] = [
  // One contender is enough for the bugs of a lost reply and of a caller that gives up, and costs least.
  quick(contention(mutex, 1), 1),
  quick(contention(mutex, 2), 1),
  quick(contention(ticketMutex, 2), 1, ['delete']),
  quick(contention(reentrantMutex, 2)),
  quick(contention(readWriteLock, 2)),
  quick(contention(writers, 2)),
  quick(contention(leaderElection, 2)),
  quick(contention(multiLock, 2)),
  quick(contention(mixed('kazoo'), 2)),
  quick(contention(mixedAfter('kazoo'), 2)),
  full(contention(semaphore(1), 2)),
  quick(increments(2), 1),
  quick(appenders(2), 1, ['cut']),
  quick(barrier(1), 1),
  quick(persistentEphemeral, 1),
  quick(cache),
  // The longest first, so that both processes end at the same time.
  full(contention(mutex, 2), 2),
  full(contention(mutex, 3), 1, ['abort']),
  full(contention(mutex, 1), 2),
  full(contention(mutex, 2, { isNew: true })),
  full(contention(mutex, 2), 1, ['answers']),
  full(contention(mutex, 3)),
  full(contention(textbook, 2), 1),
  full(contention(textbook, 3)),
  full(contention(ticketMutex, 2), 1),
  full(contention(ticketMutex, 2), 1, ['answers']),
  full(contention(ticketMutex, 3)),
  full(contention(reentrantMutex, 2), 1),
  full(contention(readWriteLock, 2), 1),
  full(contention(readWriteLock, 3)),
  full(contention(writers, 2), 1),
  full(contention(multiLock, 2), 1),
  full(contention(semaphore(1), 2), 1, INSTANT),
  begun(contention(semaphore(2), 3)),
  full(contention(leaderElection, 2), 1, INSTANT),
  full(contention(mixed('kazoo'), 2), 1),
  full(contention(mixedAfter('kazoo'), 2), 1),
  full(contention(mixed('curator'), 2), 1),
  full(contention(mixedAfter('curator'), 2), 1),
  full(contention(mixed('kazoo'), 3)),
  full(contention(mixedAfter('curator'), 3)),
  full(increments(2), 2),
  full(appenders(2), 1),
  begun(consumers),
  begun(rendezvous(2)),
  full(barrier(1), 2),
  full(barrier(2), 1),
  full(persistentEphemeral, 2),
  begun(partitioner(['a'])),
  full(cache, 1),
  full(onThreeServers(contention(mutex, 2)), 1, ['lag']),
  full(onThreeServers(contention(mutex, 1)), 1, ['lag']),
  deep(contention(mutex, 3), 1),
  deep(contention(mutex, 3), 2),
  deep(contention(textbook, 3), 1),
  deep(contention(ticketMutex, 2), 2),
  deep(contention(ticketMutex, 3), 1),
  deep(contention(readWriteLock, 2), 2),
  deep(contention(semaphore(2), 3)),
  deep(consumers, 1),
  deep(rendezvous(2)),
  deep(partitioner(['a', 'b'])),
  deep(onThreeServers(contention(ticketMutex, 2)), 1, ['lag']),
]
