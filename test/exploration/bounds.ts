// How far each world is explored. `quick` is part of `npm test`; `full` needs `npm run test:exploration`.
import type { Bound } from './explorer.ts'
import { contention, mutex, textbook, ticketMutex } from './lock-worlds.ts'
import type { Scenario } from './world.ts'

export interface Exploration extends Bound {
  readonly scenario: Scenario
  readonly size: 'quick' | 'full'
}

/** The faults that need no time. */
const INSTANT = ['expire', 'abort', 'delete'] as const

export const explorations: readonly Exploration[] = [
  { scenario: contention(mutex, 2, true), faults: 0, size: 'quick' },
  { scenario: contention(mutex, 2), faults: 1, kinds: INSTANT, size: 'quick' },
  { scenario: contention(mutex, 2), faults: 1, kinds: ['cut'], size: 'full' },
  { scenario: contention(mutex, 2), faults: 1, size: 'full' },
  { scenario: contention(mutex, 3), faults: 0, size: 'full' },
  { scenario: contention(textbook, 2), faults: 1, kinds: INSTANT, size: 'quick' },
  { scenario: contention(textbook, 3), faults: 0, size: 'full' },
  { scenario: contention(ticketMutex, 2), faults: 0, size: 'quick' },
  { scenario: contention(ticketMutex, 2), faults: 1, kinds: INSTANT, size: 'full' },
]

/** Names an exploration and its bound, in one line. */
export const titleOf = ({ scenario, faults, kinds }: Exploration): string => {
  const which = kinds === undefined ? '' : ` (${kinds.join(', ')})`
  return `${scenario.name}: ${faults === 0 ? 'no fault' : faults === 1 ? '1 fault' : `${faults} faults`}${which}`
}
