// How far each world is explored. `quick` is part of `npm test`; `full` needs `npm run test:exploration`, and `deep` its
// argument `--deep`.
import { consumers, increments, rendezvous } from './data-worlds.ts'
import type { Bound } from './explorer.ts'
import {
  contention,
  leaderElection,
  mutex,
  readWriteLock,
  reentrantMutex,
  semaphore,
  textbook,
  ticketMutex,
  writers,
} from './lock-worlds.ts'
import { faultKinds, type FaultKind, type Scenario } from './world.ts'

export interface Exploration extends Bound {
  readonly scenario: Scenario
  readonly size: 'quick' | 'full' | 'deep'
}

/** The faults that need no time. */
const INSTANT: readonly FaultKind[] = ['expire', 'abort', 'delete']

const quick = (scenario: Scenario, faults = 0, kinds = INSTANT): Exploration => ({
  ...{ scenario, faults, kinds, size: 'quick' },
})
const full = (scenario: Scenario, faults = 0, kinds = INSTANT): Exploration => ({
  ...quick(scenario, faults, kinds),
  size: 'full',
})
const deep = (scenario: Scenario, faults = 0, kinds = INSTANT): Exploration => ({
  ...quick(scenario, faults, kinds),
  size: 'deep',
})

export const explorations: readonly Exploration[] = [
  // One contender is enough for the bugs of a lost reply and of a caller that gives up, and costs least.
  quick(contention(mutex, 1), 1, [...INSTANT, 'cut']),
  quick(contention(mutex, 2), 1, ['delete']),
  quick(contention(ticketMutex, 2), 1, ['delete']),
  quick(contention(reentrantMutex, 2)),
  quick(contention(readWriteLock, 2)),
  quick(contention(writers, 2)),
  quick(contention(leaderElection, 2)),
  full(contention(mutex, 1), 2, [...INSTANT, 'cut']),
  full(contention(mutex, 2, true)),
  full(contention(mutex, 2), 1),
  full(contention(mutex, 2), 1, ['cut']),
  full(contention(mutex, 3)),
  full(contention(textbook, 2), 1),
  full(contention(textbook, 3)),
  full(contention(ticketMutex, 3)),
  full(contention(ticketMutex, 2), 1),
  full(contention(ticketMutex, 2), 1, ['cut']),
  full(contention(ticketMutex, 2), 1, ['answers']),
  full(contention(reentrantMutex, 2), 1),
  full(contention(readWriteLock, 2), 1),
  full(contention(readWriteLock, 2), 1, ['cut']),
  full(contention(writers, 2), 1),
  full(contention(semaphore(1), 2)),
  full(contention(leaderElection, 2), 1),
  deep(contention(semaphore(2), 3)),
  deep(contention(readWriteLock, 3)),
  full(increments(2), 1),
  full(increments(2), 1, ['cut']),
  deep(increments(3)),
  deep(consumers, 1),
  deep(consumers, 1, ['cut']),
  deep(rendezvous(2), 1, ['cut']),
  deep(rendezvous(3)),
  deep(contention(textbook, 2), 2),
  deep(contention(mutex, 2), 2),
  deep(contention(ticketMutex, 2), 2),
  deep(contention(mutex, 2), 1, faultKinds),
  deep(contention(mutex, 3), 1, ['abort']),
  deep(contention(ticketMutex, 3), 1, ['abort']),
  deep(contention(semaphore(1), 2), 1),
]

/** Names an exploration and its bound, in one line. */
export const titleOf = ({ scenario, faults, kinds = [] }: Exploration): string =>
  `${scenario.name}: ${faults === 0 ? 'no fault' : `${faults} of the faults ${kinds.join(', ')}`}`
