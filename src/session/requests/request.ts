// One request, from the call until its promise is settled and no reply is due any more.
import type { Timestamp } from '../../runtime/clock.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Encodable, ErrorCode, ErrorContext, Fate, Operation } from '../../protocol/index.ts'
import { codeOf, JuteError, Reader, ZooKeeperError } from '../../protocol/index.ts'
import type { Watch } from '../watches/one-shot-watches.ts'
import type { WatchManager } from '../watches/watch-manager.ts'

/** What only some calls have. `V` is what the call resolves to. */
export interface CallDetails<Q, V> {
  watch?: Watch | undefined
  /**
   * An error number that resolves the call to this value instead of rejecting it. For exists(), NONODE means that there
   * is no node.
   */
  expectedError?: { errno: number; value: V } | undefined
  /**
   * Returns what to send instead to a server that does not know the operation.
   * @param body the body that was sent: a copy, because the caller may have reused its bytes since
   */
  fallback?: ((body: Q) => Substitute) | undefined
  /** The first minor version of 3.x whose servers know what is sent. Default: that of the operation. */
  since?: number | undefined
  /** The error number with which a server answers what it does not know. Default: UNIMPLEMENTED. */
  unsupportedErrno?: number | undefined
  /** Called once when no further reply can arrive: after the reply, or when it is certain that none will arrive. */
  onEnded?: (() => void) | undefined
  /** Called when the call is settled: with undefined if it resolves, and otherwise with what it rejects with. */
  onSettled?: ((error: unknown) => void) | undefined
}

type AnyOperation = Operation<unknown, unknown>
type AnyDetails = CallDetails<unknown, unknown>

/** What replaces an operation that the server does not know. */
export interface Substitute {
  readonly op: AnyOperation
  readonly body: unknown
  readonly result: Request['result']
}

export const substitute = <Q, R>(
  op: Operation<Q, R>,
  body: Encodable<Q>,
  result: (reply: R, path: string) => unknown,
): Substitute => ({ op, body, result: result as Substitute['result'] })

/**
 * Returns the next xid. Xids count up from 1 and then start again at 1, because 0 and the negative numbers are
 * reserved.
 */
export const xidAfter = (xid: number): number => (xid === 0x7fff_ffff ? 1 : xid + 1)

/** The bytes of a frame before the request's body: length, xid, opcode. */
const BODY_OFFSET = 12

const bodyIn = (frame: Buffer, op: AnyOperation): unknown => op.request.read(new Reader(frame, BODY_OFFSET))

/** The codes of replies from a server that does not know whether the operation was executed. */
const UNDECIDED: readonly ErrorCode[] = ['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'REQUESTTIMEOUT']

/** Most calls have none. */
const NO_DETAILS: AnyDetails = {}

/**
 * One call of a method of the client. It is settled when its promise is, which happens once: later attempts have no effect.
 * It has ended when no further reply can arrive, which is later if the caller aborts it in flight. All requests have the
 * same fields, because V8 is slow with objects of many shapes.
 */
export class Request {
  op: AnyOperation
  body: unknown
  /** The path as the caller passed it, for errors. */
  readonly path: string
  /**
   * Converts the reply to the caller's value, while the reply is decoded. Its second argument is {@link path}. If it
   * throws a ZooKeeperError, the call rejects with it. It throws a JuteError if the reply is invalid.
   */
  result: (reply: unknown, path: string) => unknown
  readonly signal: AbortSignal | undefined
  details: AnyDetails
  /** See {@link CallDetails.since}. */
  since: number

  readonly promise: Promise<unknown>
  #resolve!: (value: unknown) => void
  #reject!: (error: unknown) => void
  #stopListening: (() => void) | undefined
  /** True if {@link promise} is settled. A reply may still be due. */
  settled = false

  /** The encoded frame while the request is queued, or while the server may answer that it needs the fallback. */
  frame: Buffer | undefined
  xid = 0
  /** When the first request of its batch was encoded. The request is sent at that time or later. */
  sentAt: Timestamp | undefined
  /** See {@link CallDetails.onEnded}. */
  onEnded: (() => void) | undefined

  /** The types of the arguments are erased here, because only the caller knows them. */
  constructor(
    op: AnyOperation,
    body: unknown,
    path: string,
    result: (reply: never, path: string) => unknown,
    signal?: AbortSignal,
    details: CallDetails<never, unknown> = NO_DETAILS,
  ) {
    this.op = op
    this.body = body
    this.path = path
    this.result = result as Request['result']
    this.signal = signal
    this.details = details as AnyDetails
    this.since = details.since ?? op.since
    this.onEnded = details.onEnded
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Replaces the operation by its fallback. Returns false if it has none. */
  fallBack(): boolean {
    const { fallback, onSettled } = this.details
    if (fallback === undefined) return false
    const { op, body, result } = fallback(this.frame === undefined ? this.body : bodyIn(this.frame, this.op))
    this.op = op
    this.body = body
    this.result = result
    this.details = onSettled === undefined ? NO_DETAILS : { onSettled }
    this.since = op.since
    this.frame = undefined
    return true
  }

  /** Calls back if the caller's signal aborts before the request is settled. */
  whenAborted(callback: () => void): void {
    this.#stopListening = onAbort(this.signal, callback)
  }

  /**
   * Settles the request with the server's reply. The watch is armed before the caller gets the result, because its
   * event may be in the very next frame.
   * @returns the code of the error if the server refused the request; undefined if it did not
   * @throws JuteError if the body cannot be decoded as the reply; the request is then rejected too
   */
  answer(err: number, body: Reader, watches: Pick<WatchManager, 'arm'>): ErrorCode | undefined {
    const { op, path, result } = this
    const { watch, expectedError } = this.details
    const isExpected = err !== 0 && expectedError?.errno === err
    if (err !== 0 && !isExpected) {
      const code = codeOf(err)
      this.fail(code, UNDECIDED.includes(code) ? 'unknown' : 'refused', { errno: err })
      return code
    }
    let outcome: unknown
    try {
      outcome = isExpected ? expectedError.value : result(op.response.read(body), path)
    } catch (error) {
      if (error instanceof JuteError) this.fail('PROTOCOL', 'unknown', { detail: error.message, cause: error })
      else this.reject(error)
      if (error instanceof ZooKeeperError) return error.code
      throw error
    }
    if (watch !== undefined && op.watch !== undefined) {
      // exists() sets a data watch if the node exists, and an exist watch if it does not.
      const kind = op.watch === 'exist' && !isExpected ? 'data' : op.watch
      watches.arm(kind, watch, !this.settled)
    }
    this.resolve(outcome)
    return undefined
  }

  resolve(value: unknown): void {
    if (!this.#settle()) return
    this.#resolve(value)
    this.details.onSettled?.(undefined)
  }

  reject(error: unknown): void {
    if (!this.#settle()) return
    this.#reject(error)
    this.details.onSettled?.(error)
  }

  fail(code: ErrorCode, fate: Fate, context: Omit<ErrorContext, 'fate'> = {}): void {
    // Creating an Error captures the stack, which is expensive, and a settled request would ignore it.
    if (this.settled) return
    const { op, path } = this
    this.reject(new ZooKeeperError(code, { op: op.method, path, fate, ...context }))
  }

  #settle(): boolean {
    if (this.settled) return false
    this.settled = true
    this.#stopListening?.()
    return true
  }
}
