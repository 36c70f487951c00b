// One request from its call to its settling.
import type { Encodable, ErrorCode, ErrorContext, Fate, Operation, Reader, WatchKind } from '../../protocol/index.ts'
import { codeOf, JuteError, ZooKeeperError } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Timestamp } from '../../runtime/clock.ts'
import type { Watch } from '../watches/one-shot-watches.ts'

/** What a call asks of the session. */
export interface Call<Q, R, V> {
  op: Operation<Q, R>
  body: Encodable<Q>
  /** As the caller gave it; for errors. */
  path: string
  /** The caller's value of a reply, made while the reply is decoded. A JuteError says that a server may not answer so. */
  result: (response: R) => V | Promise<V>
  /** What to ask instead of a server that does not know this. */
  fallback?: () => AnyCall
  /** The error by which a server says so. Default UNIMPLEMENTED. */
  unsupportedErrno?: number
  /** An error that is no failure but this value: NONODE says to exists that there is no node. */
  expectedError?: { errno: number; value: V } | undefined
  watch?: Watch | undefined
  signal?: AbortSignal | undefined
}

/** Xids count up from 1 and start over, and so never meet 0 and the negative ones, which have meanings of their own. */
export const xidAfter = (xid: number): number => (xid === 0x7fff_ffff ? 1 : xid + 1)

/** A call of which only its request knows the types. */
export type AnyCall = Call<unknown, unknown, unknown>

/** What a server says when it does not know itself. */
const UNDECIDED: readonly ErrorCode[] = ['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'REQUESTTIMEOUT']

/** Where watches go when the server has set them. */
interface Arming {
  arm(kind: WatchKind, watch: Watch, wanted: boolean): void
}

/** A call under way. It settles once; later attempts to settle it do nothing. */
export class Request {
  readonly call: AnyCall
  readonly promise: Promise<unknown>
  #resolve!: (value: unknown) => void
  #reject!: (error: unknown) => void
  #stopListening: (() => void) | undefined
  settled = false

  /** The encoded frame, while it waits for a connection. */
  frame: Buffer | undefined
  xid = 0
  /** When its bytes were handed to the connection. */
  sentAt: Timestamp | undefined
  /** Who waits until there can be no answer any more, and no watch of it. */
  whenOver: (() => void) | undefined

  constructor(call: AnyCall) {
    this.call = call
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Calls back when the caller's signal aborts before the request is settled. */
  whenAborted(callback: () => void): void {
    if (this.call.signal !== undefined) this.#stopListening = onAbort(this.call.signal, callback)
  }

  /**
   * The server's answer. What watch it leaves is armed before anybody hears of it: the event may be in the very next frame.
   * @returns false where the server refused
   * @throws JuteError where it is no such answer, which the call has been told then
   */
  answer(err: number, body: Reader, watching: Arming): boolean {
    const { op, watch, expectedError, result } = this.call
    const tolerated = err !== 0 && expectedError?.errno === err
    if (err !== 0 && !tolerated) {
      const code = codeOf(err)
      this.fail(code, UNDECIDED.includes(code) ? 'unknown' : 'refused', { errno: err })
      return false
    }
    let outcome: unknown
    try {
      outcome = tolerated ? expectedError.value : result(op.response.read(body))
    } catch (error) {
      if (error instanceof JuteError) this.fail('PROTOCOL', 'unknown', { detail: error.message, cause: error })
      throw error
    }
    if (watch !== undefined && op.watch !== undefined) {
      // exists leaves a data watch on a node that is there, an exist watch where it is not.
      const kind = op.watch === 'exist' && !tolerated ? 'data' : op.watch
      watching.arm(kind, watch, !this.settled)
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
    // Making an Error takes its stack, which is dear: not for a call that has been given up already.
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
