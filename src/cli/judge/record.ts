// What has happened in a trial, in order: frames, lines of the programs, and what the judge did.
import type { ToldLine } from '../conversation/told-line.ts'

/** A line of a connection, with the bytes of its frame. */
export interface WireLine {
  /** The number of the connection, counted from 1 in the trial. */
  readonly connection: number
  /** The address of the server. */
  readonly server: string
  readonly told: ToldLine
}

/** One row of the record: a frame that an end sends or receives, or what a process does. */
export interface Row {
  /** Milliseconds since the start of the trial. */
  readonly at: number
  /** The number of the copy, from 1. 0 if the row concerns no copy. */
  readonly copy: number
  /**
   * `sent` and `received`: a frame, as its client sees it. `says`: a line of the program. `judge`: an order or a fault.
   * `wire`: a connection is opened or closed, which no diagram shows.
   */
  readonly kind: 'sent' | 'received' | 'says' | 'judge' | 'wire'
  readonly text: string
  /** The copies that hold the lock after this, as far as they know. */
  readonly holders: readonly number[]
  /** Of a frame or a connection. */
  readonly line?: WireLine | undefined
}

/** A mistake of the program. */
export interface Finding {
  readonly kind: FindingKind
  readonly words: string
}

/** What each kind of finding means. */
export const FINDINGS = {
  overlap: 'two copies hold the lock at the same time',
  kept: 'a copy goes on as holder after its session has ended',
  foreign: 'a copy deletes the node of another one',
  stuck: 'nobody gets the free lock, or a copy does not leave it',
  failed: 'a copy fails or ends',
  token: 'a token is not greater than the one before',
  order: 'a copy overtakes another one that has queued before it',
  herd: 'a release notifies many copies, although one can be next',
  left: 'nodes, watches or sessions are left at the end',
} as const
export type FindingKind = keyof typeof FINDINGS
