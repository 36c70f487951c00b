// Faults that a test plans: what users see of them. fault-plan.ts implements them.
import type { operations, ServerErrorCode } from '../protocol/index.ts'

export type OperationName = keyof typeof operations

/**
 * An operation, by its name or by the name of the client's method; the handshake; or an event.
 * 'create' means all operations that create nodes.
 */
export type FaultKind = OperationName | 'connect' | 'event'

export interface FaultMatch {
  /** Which matching occurrence is affected, counted from now. 1 is the next. Default 1. */
  nth?: number
  /** How many consecutive occurrences are affected. Default 1. Infinity: until `release()` or `clear()`. */
  times?: number
  /** The id of a session: only its occurrences match. Default: those of all sessions. */
  session?: bigint
}

/** What happens to a reply or an event. */
export type FaultEffect =
  | { is: 'hold' }
  | { is: 'delay'; ms: number }
  | { is: 'drop' }
  | { is: 'ignore' }
  | { is: 'replace'; code: ServerErrorCode }
  | { is: 'cut'; bytes: number }

/** A planned fault. */
export interface Fault {
  /** 'anything' matches every occurrence of every kind. */
  readonly kind: FaultKind | 'anything'
  readonly effect: FaultEffect
  /**
   * Resolves when the fault has happened for the first time.
   * Rejects if the fault is released or cleared before that; no unhandled rejection is reported.
   */
  readonly triggered: Promise<void>
  /** True if the fault cannot happen any more. */
  readonly isOver: boolean
  /** True while the fault holds back a reply or an event. */
  readonly isHolding: boolean
  /** Sends the replies and events that are held, and all that is queued after them. The fault does not happen again. */
  release(): void
}

/** Plans faults. A method throws a ZooKeeperError BADARGUMENTS if an argument or option is invalid. */
export interface Faults {
  /** Executes the request, and holds its reply and all that follows on the connection until `release()`. */
  hold(kind: FaultKind, match?: FaultMatch): Fault

  /**
   * Executes the request, and holds its reply and all that follows on the connection for `ms` milliseconds,
   * or until `release()`.
   * @param ms from 0 to 2147483647
   */
  delay(kind: FaultKind, ms: number, match?: FaultMatch): Fault

  /** Executes the request, and closes the connection instead of sending the reply. */
  drop(kind: FaultKind, match?: FaultMatch): Fault

  /** Closes the connection without executing the request. The client cannot distinguish this from `drop`. */
  ignore(kind: Exclude<FaultKind, 'event'>, match?: FaultMatch): Fault

  /** Replies with the error `code` without executing the request. */
  replace(kind: OperationName, code: ServerErrorCode, match?: FaultMatch): Fault

  /**
   * Closes the connection of the next matching reply or event after `bytes` more bytes, even in the middle of a frame.
   * Bytes that are held already are not counted.
   */
  cutAfter(bytes: number, match?: FaultMatch): Fault

  /** Cancels all faults that have not happened yet, and sends everything that is held. */
  clear(): void
}
