// How long a lock is handed over through a line. Pure.
import type { Summary } from './summary.ts'

export interface HandOver {
  scenario: string
  size: number
  /** The time by which the line delayed a round trip, ms. */
  roundTrip: number
  /** From a release until the next session had the lock: the median, ms. */
  ms: number
}

/**
 * Returns one for each summary of a lock whose first phase was timed.
 * @param roundTrip the time by which the line delayed a round trip, ms
 */
export const handOversOf = (locks: readonly Summary[], roundTrip: number): HandOver[] =>
  locks.flatMap(({ scenario, size, asExpected, phases: [release] }) =>
    release?.marks === undefined || asExpected === undefined
      ? []
      : [{ scenario, size, roundTrip, ms: release.marks.first }],
  )
