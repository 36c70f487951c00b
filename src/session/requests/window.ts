// How many requests may be in flight on one connection, so that the server answers each of them within a given time.
import * as operations from '../../protocol/operations.ts'
import type { Request } from './request.ts'

/** How many requests may be in flight while nothing is known of the server, the network, and the size of the replies. */
const FIRST_SIZE = 1
/** The same for a session that holds nothing yet, so that a contender sets its watches together. */
const FIRST_OF_WAITER = 4
/** The same for requests that are short and have short replies, such as those of a lock. */
const FIRST_SHORT = 64
/** The most bytes of data in a short request. */
const SHORT = 1024
const LONG_REPLIES: ReadonlySet<unknown> = new Set([
  ...[operations.getData, operations.getChildren, operations.getChildren2],
  ...[operations.multiRead, operations.getEphemerals],
])
/** How much the size may grow by one measurement, because later replies may be larger. */
const GROWTH = 2

/**
 * Measures one request at a time: how many were in flight when it was sent, and how much longer than the fastest one it
 * took. That is what the requests before it have cost.
 */
export class Window {
  readonly #longest: number
  #size = FIRST_SIZE
  /** How many requests are in flight that may take long. */
  #long = 0
  /** The last request has to wait. */
  #isFull = false
  /** A request had to wait since the last measurement. */
  #wasFull = false
  #measured: Request | undefined
  /** How many requests were in flight with {@link #measured} when it was sent. */
  #depth = 0
  #fastest: number
  /** How much longer than the fastest request a long one takes, in milliseconds. A short one shows little of it. */
  delay = 0

  /**
   * @param longest how long the requests in flight may delay one that follows, in milliseconds
   * @param roundTrip how long a request has taken that followed no other, in milliseconds
   */
  constructor(longest: number, roundTrip: number) {
    this.#longest = longest
    this.#fastest = roundTrip
  }

  /** True if even few requests delay one that follows for too long, because the line or the server is slow. */
  get isSlow(): boolean {
    return this.delay > this.#longest
  }

  /**
   * Returns true if one more request may be in flight. A full window takes requests again when half of them are answered,
   * so that they are sent by few writes.
   * @param isHolder whether the session has a lease to lose
   */
  takes(request: Request, inFlight: number, isHolder: boolean): boolean {
    const isBeside = isShort(request)
    // The replies of a lock's requests are short, so one long reply beside them is as much as one alone.
    const used = isBeside ? inFlight : Math.min(this.#long, inFlight)
    // What follows a moment without a request may have longer replies than what was before it.
    if (used === 0 && !this.#isFull) this.#size = Math.min(this.#size, FIRST_SIZE)
    const least = isBeside ? FIRST_SHORT : isHolder ? FIRST_SIZE : FIRST_OF_WAITER
    const size = this.isSlow ? this.#size : Math.max(this.#size, least)
    if (this.#isFull && used * 2 > size) return false
    this.#isFull = used >= size
    this.#wasFull ||= this.#isFull
    return !this.#isFull
  }

  /** @param inFlight the requests in flight, with this one */
  onSent(request: Request, inFlight: number): void {
    const isLong = !isShort(request)
    if (isLong) this.#long++
    if (this.#measured !== undefined && (!isLong || this.#long > 1)) return
    this.#measured = request
    this.#depth = inFlight
  }

  /** A request was answered that shows nothing of what replies to others cost. */
  forget(request: Request): void {
    if (request === this.#measured) this.#measured = undefined
  }

  onReply(request: Request, now: number): void {
    // Those that were sent before this window began were not counted.
    if (this.#long > 0 && !isShort(request)) this.#long--
    if (request !== this.#measured) return
    this.#measured = undefined
    const took = now - (request.sentAt?.now ?? now)
    this.#fastest = Math.min(this.#fastest, took)
    const cost = took - this.#fastest
    this.delay = isShort(request) ? Math.max(cost, this.delay / 2) : cost
    const fitting = Math.max(1, Math.floor((this.#depth * this.#longest) / cost))
    // A window that was never full shows nothing of more requests, and a short reply nothing of long ones.
    const mayGrow = this.#wasFull && (this.#long === 0 || !isShort(request))
    // One fast reply may be chance, so the size grows only half the way.
    const most = mayGrow ? Math.min(this.#size * GROWTH, (this.#size + fitting) / 2) : this.#size
    this.#size = Math.min(most, fitting)
    if (mayGrow) this.#wasFull = false
  }
}

/** False if its bytes, or those of its reply, may take long. */
function isShort({ op, body }: Request): boolean {
  const data = (body as { data?: Uint8Array | null }).data ?? undefined
  return !LONG_REPLIES.has(op) && (data === undefined || data.length <= SHORT)
}
