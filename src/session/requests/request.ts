// One request from its call to its settlement.
import type { Timestamp } from '../../runtime/clock.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Encodable, ErrorCode, ErrorContext, Fate, Operation, Reader, WatchKind } from '../../protocol/index.ts'
import { codeOf, JuteError, ZooKeeperError } from '../../protocol/index.ts'
import type { Watch } from '../watches/one-shot-watches.ts'

/** One call of a method of the client. */
export interface Call<Q, R, V> {
  op: Operation<Q, R>
  body: Encodable<Q>
  /** As the caller passed it; for errors. */
  path: string
  /**
   * Makes the caller's value while the reply is decoded. Returning a ZooKeeperError rejects the call. Throwing a JuteError
   * says that a server may not reply so.
   */
  result: (reply: R) => V | ZooKeeperError | Promise<V>
  /** What to send to a server that does not know this operation. */
  fallback?: () => AnyCall
  /** The error number by which a server says so. Default UNIMPLEMENTED. */
  unsupportedErrno?: number
  /** An error that is not a failure but this value: NONODE tells exists that there is no node. */
  expectedError?: { errno: number; value: V } | undefined
  watch?: Watch | undefined
  signal?: AbortSignal | undefined
  /** Called once when no reply can come any more: after a reply, or if none will come. */
  onSettled?: (() => void) | undefined
}

/** Xids count up from 1 and start over, so that they never reach 0 and the negative ones, which are reserved. */
export const xidAfter = (xid: number): number => (xid === 0x7fff_ffff ? 1 : xid + 1)

/** A call whose types only its own code knows. */
export type AnyCall = Call<unknown, unknown, unknown>

/** What a server replies if it does not know itself whether the operation was done. */
const UNDECIDED: readonly ErrorCode[] = ['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'REQUESTTIMEOUT']

/** Where a watch goes when the server has set it. */
interface Arming {
  arm(kind: WatchKind, watch: Watch, isWanted: boolean): void
}

/** Settles once; later attempts to settle it do nothing. */
export class Request {
  readonly call: AnyCall
  readonly promise: Promise<unknown>
  #resolve!: (value: unknown) => void
  #reject!: (error: unknown) => void
  #stopListening: (() => void) | undefined
  settled = false

  /** The encoded frame while the request is queued. */
  frame: Buffer | undefined
  xid = 0
  /** When its bytes were handed to the connection. */
  sentAt: Timestamp | undefined
  /** As {@link Call.onSettled}. */
  onSettled: (() => void) | undefined

  constructor(call: AnyCall) {
    this.call = call
    this.onSettled = call.onSettled
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Calls back if the caller's signal aborts before the request is settled. */
  whenAborted(callback: () => void): void {
    if (this.call.signal !== undefined) this.#stopListening = onAbort(this.call.signal, callback)
  }

  /**
   * Settles the request with the server's reply. A watch is armed before the caller gets the result, because its event may
   * be in the very next frame.
   * @returns false if the server refused the request
   * @throws JuteError if the body is not such a reply; the request is rejected then
   */
  answer(err: number, body: Reader, watches: Arming): boolean {
    const { op, watch, expectedError, result } = this.call
    const isExpected = err !== 0 && expectedError?.errno === err
    if (err !== 0 && !isExpected) {
      const code = codeOf(err)
      this.fail(code, UNDECIDED.includes(code) ? 'unknown' : 'refused', { errno: err })
      return false
    }
    let outcome: unknown
    try {
      outcome = isExpected ? expectedError.value : result(op.response.read(body))
    } catch (error) {
      if (error instanceof JuteError) this.fail('PROTOCOL', 'unknown', { detail: error.message, cause: error })
      throw error
    }
    if (watch !== undefined && op.watch !== undefined) {
      // exists leaves a data watch on a node that exists, and an exist watch on one that does not.
      const kind = op.watch === 'exist' && !isExpected ? 'data' : op.watch
      watches.arm(kind, watch, !this.settled)
    }
    if (outcome instanceof ZooKeeperError) this.reject(outcome)
    else this.resolve(outcome)
    return true
  }

  resolve(value: unknown): void {
    if (this.#settle()) this.#resolve(value)
  }

  reject(error: unknown): void {
    if (this.#settle()) this.#reject(error)
  }

  fail(code: ErrorCode, fate: Fate, context: Omit<ErrorContext, 'fate'> = {}): void {
    // Making an Error captures its stack, which is expensive. An aborted call needs none.
    if (this.settled) return
    const { op, path } = this.call
    this.reject(new ZooKeeperError(code, { op: op.method, path, fate, ...context }))
  }

  #settle(): boolean {
    if (this.settled) return false
    this.settled = true
    this.#stopListening?.()
    return true
  }
}
