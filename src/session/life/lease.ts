// The lease: until when the servers keep the session, as far as its client can know. It is as long as the session
// timeout T. Its start depends on whether the session holds something, such as a lock.
//
// If it holds nothing, the lease starts when the last packet was sent that some server has answered. A follower also
// answers while it is cut off from the leader, which may expire the session meanwhile.
//
// If it holds something, only an answer of the leader counts, and the lease is exact: the servers keep the session until
// it ends, unless a client closes the session. Four facts prove its start P.
//
// 1. A server answers a packet that was sent at P. A follower reports to the leader which sessions have sent something,
//    but only in its answers to the leader's pings, one every half tick (LearnerSessionTracker, Learner.ping). Requests
//    that it forwards postpone nothing: the leader only checks that the session has not ended (LearnerHandler,
//    PrepRequestProcessor). A handshake of an existing session does count at the leader (Leader.REVALIDATE).
// 2. More than half a tick later, a sync or a write Q is sent, which goes to the leader. The leader has sent a ping since
//    the answer of 1. The ping arrives at the follower before the answer to Q, because messages of the two keep their
//    order. So when Q is answered, the follower has sent the report on P.
// 3. A write R is sent then. It arrives at the leader after that report, for the same reason. If R succeeds, the session
//    was alive when the report arrived, so the leader keeps it for T from a time after P (SessionTrackerImpl).
// 4. A majority has logged R after P. So the servers have not elected another leader before P, and a later one gives
//    each session the whole T again (Leader.lead). A sync would not prove this: a leader that has lost its majority
//    answers syncs until it gives up, up to one and a half ticks after its successor has begun.
//
// T is at least two ticks (minSessionTimeout), so half a tick is at most T/4. The delays of the network do not matter,
// only that the clocks of client and leader advance equally fast.
import { ZooKeeperError } from '../../protocol/index.ts'
import { Abort } from '../../runtime/abort.ts'
import { readClocks, type Clock, type Timestamp } from '../../runtime/clock.ts'

/**
 * Returns how many milliseconds of a lease are left; 0 if it has expired. The server starts its own timeout when it
 * receives the packet, so it keeps the session at least as long as the lease lasts.
 *
 * Time is read from the monotonic clock and from the wall clock. The one that has advanced more decides, because the
 * monotonic clock stops while a machine is suspended. A wall clock that is set forward therefore ends a lease early,
 * which is safe. One that is set back changes nothing.
 * @param start when the packet was sent at which the lease starts
 * @param timeout session timeout in milliseconds
 */
export const remaining = (start: Timestamp, timeout: number, now: Timestamp): number =>
  Math.max(0, timeout - elapsed(start, now))

const elapsed = (start: Timestamp, { now, wall }: Timestamp): number => Math.max(now - start.now, wall - start.wall)

/** The share of T that passes between the answer to P and the request Q. It is half a tick, and some time for timers. */
const REPORT_SHARE = 0.27

/** A timer that fires later than this share of T says that the process stood still. A busy one is late by less. */
const STALL_SHARE = 0.1

/** A lease of which a smaller share of T is left may end before another server can be asked. */
export const SPARE_SHARE = 1 / 3

/** A packet, and when a server answered it, by {@link Clock.now}. */
interface Answer {
  readonly sentAt: Timestamp
  readonly at: number
}

/** What the answers on one connection prove about the leader. See the comment of this file for P, Q and R. */
class Evidence {
  /** P: the leader keeps the session for T from then. Undefined if nothing is proved yet. */
  start: Timestamp | undefined
  #reportTime = 0
  /** Two packets that can become P. If both can, the newer one was answered at least {@link #reportTime} later. */
  #older: Answer | undefined
  #newer: Answer | undefined
  /** Q has been answered: `sentAt` is its P, and R must be sent at `at` or later. */
  #next: Answer | undefined

  /** @param sentAt when the connect request was sent: the leader itself has answered it */
  onConnected(sentAt: Timestamp, timeout: number, now: number): void {
    this.#reportTime = timeout * REPORT_SHARE
    this.#older = undefined
    this.#newer = this.#next = { sentAt, at: now }
  }

  onAnswer(sentAt: Timestamp, now: number): void {
    if (this.#newer === undefined) return
    if (this.#advances(this.#newer) && now < this.#newer.at + this.#reportTime) return
    this.#older = this.#newer
    this.#newer = { sentAt, at: now }
  }

  /**
   * The leader has executed a request.
   * @param isWrite false for a sync
   */
  onLeaderAnswer(sentAt: Timestamp, now: number, isWrite: boolean): void {
    // A write that was sent with the handshake of a new session follows the creation of the session, which a majority logs.
    if (isWrite && this.#next !== undefined && (this.#next.at <= sentAt.now || this.#next.sentAt === sentAt)) {
      if (this.#advances(this.#next)) this.start = this.#next.sentAt
      this.#next = undefined
    }
    const reported = [this.#newer, this.#older].find(answer => answer && answer.at + this.#reportTime <= sentAt.now)
    if (
      reported !== undefined &&
      this.#advances(reported) &&
      reported.sentAt.now > (this.#next?.sentAt.now ?? -Infinity)
    )
      this.#next = { sentAt: reported.sentAt, at: now }
    // The answer could not become P while the one before it could. The other answers to its packet are not looked at.
    if (!this.#advances(this.#newer)) this.onAnswer(sentAt, now)
  }

  /** A question was answered. If a long reply delayed it, it proves more than that reply, which came just before. */
  onQuestionAnswered(sentAt: Timestamp, now: number): void {
    if (this.#newer === undefined) return
    const { sentAt: before, at } = this.#newer
    if (sentAt.now - before.now > 2 * (now - at) + this.#reportTime / 4) this.#newer = { sentAt, at: now }
  }

  /** True if a write that is sent now proves something new, without a sync before it. */
  get awaitsWrite(): boolean {
    return this.#advances(this.#next)
  }

  /** Returns when the next sync proves something new, by {@link Clock.now}. */
  get nextReportAt(): number {
    if (this.#advances(this.#older)) return -Infinity
    return this.#newer !== undefined && this.#advances(this.#newer) ? this.#newer.at + this.#reportTime : Infinity
  }

  #advances(answer: Answer | undefined): boolean {
    return answer !== undefined && (this.start === undefined || answer.sentAt.now > this.start.now)
  }
}

export class SessionLease {
  readonly #clock: Clock
  readonly #onExpired: () => void
  readonly #evidence = new Evidence()
  /** When the last packet was sent that some server has answered. Undefined before the first handshake and at the end. */
  #answered: Timestamp | undefined
  #timeout = 0
  /** When the last write was sent that the leader has executed. */
  #lastWrite: Timestamp | undefined
  /** The number of things that the session holds. */
  #held = 0
  #timer: unknown
  #hasExternalTimer = false
  /** By how many milliseconds the end of the lease was noticed late; 0 if it was not. */
  #overdue = 0
  /** Created when it is first read or aborted, because most leases of sessions are neither. */
  #lost: Abort | undefined

  /**
   * @param onExpired called when the session must be presumed lost; again if the lease was renewed and expires once more
   */
  constructor(clock: Clock, onExpired: () => void) {
    this.#clock = clock
    this.#onExpired = onExpired
  }

  /**
   * Set it to true while the owner calls {@link expireIfDue} before the lease expires. The lease then needs no timer of its
   * own.
   */
  set hasExternalTimer(hasExternalTimer: boolean) {
    if (this.#hasExternalTimer === hasExternalTimer) return
    this.#hasExternalTimer = hasExternalTimer
    this.#clock.clearTimeout(this.#timer)
    if (!hasExternalTimer && this.#start !== undefined && !this.expired) this.#schedule()
  }

  /**
   * Aborts when the lease expires, or when the session ends or begins to close. After a renewal of an expired lease
   * there is a new signal.
   */
  get signal(): AbortSignal {
    return this.loss.signal
  }

  /** What {@link signal} is the signal of. */
  get loss(): Abort {
    return (this.#lost ??= new Abort())
  }

  get expired(): boolean {
    return this.#lost?.isDone === true
  }

  get isHeld(): boolean {
    return this.#held > 0
  }

  get #start(): Timestamp | undefined {
    return this.isHeld && this.#answered !== undefined ? this.#evidence.start : this.#answered
  }

  remaining(now = readClocks(this.#clock)): number {
    return this.#start === undefined ? 0 : remaining(this.#start, this.#timeout, now)
  }

  /**
   * Returns for how many milliseconds the lease has more than {@link SPARE_SHARE} left, if only the leader's answers
   * count; 0 or less if it has not.
   */
  confirmedFor(): number {
    const { start } = this.#evidence
    if (start === undefined || this.#answered === undefined || this.expired) return 0
    return remaining(start, this.#timeout, readClocks(this.#clock)) - this.#timeout * SPARE_SHARE
  }

  /** From when on the leader keeps the session for T, as far as is proved, by {@link Clock.now}. */
  get confirmedAt(): number {
    return this.#evidence.start?.now ?? -Infinity
  }

  /** True if the next write proves something of the leader, without a sync before it. */
  get awaitsWrite(): boolean {
    return this.#evidence.awaitsWrite
  }

  /** Returns when the leader must be asked to renew the lease of a session that holds something, by {@link Clock.now}. */
  get mustAskAt(): number {
    return this.awaitsWrite ? -Infinity : this.#evidence.nextReportAt
  }

  /**
   * Starts the lease: a server has created or confirmed the session.
   * @param sentAt when the connect request was sent
   * @param timeout the session timeout that the server chose, in milliseconds
   */
  start(sentAt: Timestamp, timeout: number): void {
    this.#answered = sentAt
    this.#timeout = timeout
    this.#evidence.onConnected(sentAt, timeout, this.#clock.now())
    this.#revive()
  }

  /** A server has answered a packet that was sent at `sentAt`. */
  renew(sentAt: Timestamp, now = this.#clock.now()): void {
    // All requests of one write were sent at the same time, and the first answer proves as much as the others.
    if (this.#answered === undefined || this.#answered === sentAt) return
    this.#evidence.onAnswer(sentAt, now)
    if (sentAt.now <= this.#answered.now) return
    this.#answered = sentAt
    if (this.expired) this.#revive()
  }

  /**
   * The leader has executed a sync, or a write that fails if the session has ended.
   * @param sentAt when the request was sent, or earlier
   */
  renewByLeader(sentAt: Timestamp, isWrite: boolean): void {
    if (isWrite && sentAt === this.#lastWrite) return
    if (isWrite) this.#lastWrite = sentAt
    const now = this.#clock.now()
    this.#evidence.onLeaderAnswer(sentAt, now, isWrite)
    if (!isWrite) this.#evidence.onQuestionAnswered(sentAt, now)
    if (this.expired && this.#answered !== undefined) this.#revive()
  }

  /** The session holds something. From now on only the leader renews the lease. */
  hold(): void {
    if (++this.#held === 1) this.#revive()
  }

  /** The session holds one thing less. */
  release(): void {
    if (--this.#held === 0 && this.#answered !== undefined) this.#revive()
  }

  /**
   * Ends the lease if it has expired. The connection calls it first in each callback of the runtime, before it uses
   * anything received. Returns the milliseconds after which it must be called again at the latest.
   */
  expireIfDue(now?: Timestamp): number {
    if (this.#answered === undefined || this.expired) return Infinity
    const left = this.remaining(now)
    if (left > 0) return left
    this.#clock.clearTimeout(this.#timer)
    const [who, timeout] = [this.isHeld ? 'leader' : 'server', this.#timeout]
    if (this.#start !== undefined) this.#overdue = elapsed(this.#start, now ?? readClocks(this.#clock)) - timeout
    const detail = `no ${who} has confirmed the session for ${timeout} ms${this.stall}`
    this.#abort(() => new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown', detail }))
    this.#onExpired()
    return Infinity
  }

  /** The end of an error's message, if the lease has expired because the process stood still; otherwise empty. */
  get stall(): string {
    const isStall = this.#overdue > this.#timeout * STALL_SHARE
    return isStall ? `; this process or its machine stood still for ${Math.round(this.#overdue)} ms or longer` : ''
  }

  /** Ends the lease, because the session has ended or is being closed. */
  end(reason: () => Error): void {
    this.#clock.clearTimeout(this.#timer)
    this.#answered = undefined
    this.#abort(reason)
  }

  #abort(reason: () => Error): void {
    this.loss.abort(reason)
  }

  #revive(): void {
    if (this.remaining() === 0) return
    this.#overdue = 0
    if (this.expired) this.#lost = undefined
    if (this.#hasExternalTimer) return
    this.#clock.clearTimeout(this.#timer)
    this.#schedule()
  }

  /** Sets a timer for the next {@link expireIfDue}. Renewals need not change the timer. */
  #schedule(): void {
    const onTimer = () => {
      this.expireIfDue()
      if (!this.expired) this.#schedule()
    }
    this.#timer = this.#clock.setTimeout(onTimer, Math.ceil(this.remaining()))
  }
}
