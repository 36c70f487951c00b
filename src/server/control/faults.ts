// The public types of the faults that a test can plan. fault-plan.ts implements them.
import type { operations, ServerErrorCode } from '../../protocol/index.ts'

/** The name of an operation, as in `operations` of `zkwire/protocol`. */
export type OperationName = keyof typeof operations

/**
 * The kind of an occurrence that a fault affects: a request, by the name of its operation or of the client's method;
 * the handshake ('connect'); or an event. So 'create' means all operations that create nodes.
 * @example
 * const kind: FaultKind = 'create'
 * server.faults.drop(kind)
 * await zk.create('/app').catch((error: ZooKeeperError) => error.fate) // => 'unknown'
 */
export type FaultKind = OperationName | 'connect' | 'event'

/**
 * The occurrences that a fault affects. Default: the next one of its kind.
 * @example
 * const match: FaultMatch = { nth: 2, session: zk.sessionId }
 * server.faults.replace('exists', 'NOAUTH', match)
 * await zk.exists('/app') // => null
 * await zk.exists('/app') // throws NOAUTH
 */
export interface FaultMatch {
  /**
   * The number of the first matching occurrence that is affected, counted from now: a whole number, where 1 is the
   * next. Default: 1.
   */
  nth?: number | undefined
  /**
   * How many consecutive occurrences are affected: a whole number from 1 on, or Infinity, which lasts until `release()`
   * or `clear()`. Default: 1.
   */
  times?: number | undefined
  /** The id of the session whose occurrences match. Default: the occurrences of all sessions match. */
  session?: bigint | undefined
}

/**
 * What happens to a reply or an event.
 * @example
 * const effect: FaultEffect = server.faults.delay('exists', 50).effect
 * effect // => { is: 'delay', ms: 50 }
 */
export type FaultEffect =
  | { is: 'hold' }
  | { is: 'delay'; ms: number }
  | { is: 'drop' }
  | { is: 'ignore' }
  | { is: 'replace'; code: ServerErrorCode }
  | { is: 'cut'; bytes: number }

/**
 * A planned fault, which a method of {@link Faults} returns.
 * @example
 * const fault: Fault = server.faults.hold('exists')
 * const answer = zk.exists('/app')
 * await fault.triggered
 * fault.isHolding // => true
 * fault.release()
 * await answer // => null
 */
export interface Fault {
  /** 'anything' matches every occurrence of every kind. */
  readonly kind: FaultKind | 'anything'
  /** What happens to the request, the reply, the event or the connection. */
  readonly effect: FaultEffect
  /**
   * Resolves when the fault has happened for the first time. Rejects with an Error if the fault is released or cleared
   * before that. That rejection is never reported as unhandled.
   */
  readonly triggered: Promise<void>
  /** True if the fault cannot happen any more. */
  readonly isOver: boolean
  /** True while the fault holds back a reply or an event. */
  readonly isHolding: boolean
  /**
   * Sends the replies and events that are held, and all that is queued after them. The fault does not happen again.
   * @example
   * const fault = server.faults.hold('exists')
   * const answers = Promise.all([zk.exists('/app'), zk.exists('/')])
   * await fault.triggered
   * fault.release()
   * fault.isOver // => true
   * await answers.then(stats => stats.length) // => 2
   */
  release(): void
}

/**
 * Plans faults. Each method returns the planned fault, and throws a ZooKeeperError BADARGUMENTS if an argument or an
 * option is invalid. For an event, the methods affect the event instead of a reply.
 * @example
 * const { faults }: { faults: Faults } = server
 * faults.replace('getData', 'NONODE')
 * await zk.getData('/') // throws NONODE
 * await zk.getData('/').then(({ stat }) => stat.version) // => 0
 */
export interface Faults {
  /**
   * Executes the request. Holds its reply, and everything after it on the connection, until `release()` or `clear()`.
   * @example
   * const fault = server.faults.hold('create')
   * const answer = zk.create('/app')
   * await fault.triggered
   * server.snapshot().nodes.has('/app') // => true
   * fault.release()
   * await answer.then(({ path }) => path) // => '/app'
   */
  hold(kind: FaultKind, match?: FaultMatch): Fault

  /**
   * Executes the request. Holds its reply, and everything after it on the connection, for `ms` milliseconds, or until
   * `release()` or `clear()`.
   * @param ms milliseconds, from 0 to 2147483647
   * @example
   * server.faults.delay('exists', 20)
   * await zk.exists('/app') // => null
   */
  delay(kind: FaultKind, ms: number, match?: FaultMatch): Fault

  /**
   * Executes the request, and closes the connection instead of sending the reply.
   * @example
   * server.faults.drop('create')
   * await zk.create('/app') // throws CONNECTIONLOSS
   * server.snapshot().nodes.has('/app') // => true
   */
  drop(kind: FaultKind, match?: FaultMatch): Fault

  /**
   * Closes the connection without executing the request. The client cannot distinguish this from `drop`.
   * @example
   * server.faults.ignore('create')
   * await zk.create('/app') // throws CONNECTIONLOSS
   * server.snapshot().nodes.has('/app') // => false
   */
  ignore(kind: Exclude<FaultKind, 'event'>, match?: FaultMatch): Fault

  /**
   * Replies with the error `code` without executing the request.
   * @param code an error that servers send, for example 'NONODE'
   * @example
   * server.faults.replace('setData', 'QUOTAEXCEEDED')
   * await zk.setData('/', 'v1') // throws QUOTAEXCEEDED
   */
  replace(kind: OperationName, code: ServerErrorCode, match?: FaultMatch): Fault

  /**
   * Closes the connection of the next matching reply or event after `bytes` more bytes, even in the middle of a frame.
   * Bytes that are held already are not counted.
   * @param bytes a whole number from 0 on
   * @example
   * server.faults.cutAfter(10)
   * await zk.exists('/app') // throws CONNECTIONLOSS
   */
  cutAfter(bytes: number, match?: FaultMatch): Fault

  /**
   * Cancels all faults that can still happen, and sends everything that is held.
   * @example
   * const fault = server.faults.replace('exists', 'NOAUTH', { times: Infinity })
   * server.faults.clear()
   * await zk.exists('/app') // => null
   * fault.isOver // => true
   */
  clear(): void
}
