// The model: its named parts, and the terms of which a cost is the sum. Pure, and free of modules of Node.js, because the
// report's page uses it too.
import type { Estimate, Fit } from './least-squares.ts'

/** What a cost is proportional to: each phase costs a constant, and something for each of the others. */
export type Term = 'phase' | 'notification' | 'session' | 'byte'

export interface Costs extends Fit {
  terms: Term[]
}

export type CountName = (typeof COUNTS)[number]
export const COUNTS = ['notifications', 'framesSent', 'framesReceived', 'bytesSent', 'bytesReceived'] as const

export interface PhaseModel {
  scenario: string
  kind: string
  phase: string
  /** The sizes that were fitted. */
  sizes: number[]
  /** Polynomials of N. They are exact if the counts are. */
  counts: Record<CountName, Fit>
  /** True if sessions read lists of names, which grow with N. */
  lists: boolean
  /** Round trips from the release of a lock to the next holder. Undefined for other phases. */
  roundTrips: number | undefined
  /** The server's processor time in ms. Undefined if the run could not read it. */
  server: Costs | undefined
  /** The clients' processor time in ms. Undefined if the run did not time the phase. */
  client: Costs | undefined
  /** The duration in ms, without the processor time of both, divided by the cores that they share. */
  wait: Costs | undefined
}

export interface Model {
  phases: PhaseModel[]
  cores: number
  /** A round trip on the measured machine, ms, with what both ends do one after the other. Undefined without locks. */
  roundTrip: Estimate | undefined
  /** The rate in bits a second at which the time grows with the bytes, beyond the processor time. Undefined if it does not. */
  lineRate: Estimate | undefined
}

/** Returns 1, N, N² and so on. */
export const powersOf = (size: number, degree: number): number[] =>
  Array.from({ length: degree + 1 }, (_, power) => size ** power)

/** Returns the value of each term. */
export const termValues = (
  terms: readonly Term[],
  size: number,
  counts: { notifications: number; bytesReceived: number },
) =>
  terms.map(term => ({ phase: 1, notification: counts.notifications, session: size, byte: counts.bytesReceived })[term])
