// Asks the leader about a session that holds something, and decides when to leave a server that has lost its leader. What
// the answers prove is in life/lease.ts.
import { onAbort } from '../runtime/abort.ts'
import { readClocks, type Clock } from '../runtime/clock.ts'
import { errnos, opcodes } from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import type { Lease } from './life/lease.ts'
import type { RequestSender, Requests } from './requests/requests.ts'

/** The parts of a session that the check uses. */
export interface LeaderCheckOwner {
  readonly requests: Requests
  readonly timeout: number
  /** The connection to a server that takes writes; undefined if there is none. */
  readonly writableConnection: (RequestSender & { beat(): void }) | undefined
  /** Connects to another server. */
  leave(reason: string): void
}

/** If the leader has not answered for this share of the session timeout, the client may leave the server. */
const PATIENCE_SHARE = 1 / 8

/**
 * A write that changes nothing. It fails if the session has ended, and if the session may not read the root; the answer
 * to the latter proves that the former is not so, because the leader checks the session first.
 */
const WRITE = [{ type: opcodes.check, body: { path: '/', version: -1 } }]
const NO_PROOF: readonly number[] = [errnos.SESSIONEXPIRED, errnos.SESSIONMOVED]

/** What was asked on one connection. */
interface Question {
  readonly connection: RequestSender
  isPending: boolean
  /** When the leader was first asked without an answer; Infinity if it has answered the last question. */
  since: number
  /** The earliest time of the next question. */
  notBefore: number
}

export class LeaderCheck {
  readonly #owner: LeaderCheckOwner
  readonly #lease: Lease
  readonly #clock: Clock
  #question: Question | undefined
  /** The client is about to leave. But after a stall the answer may already be in the socket buffer, so wait one turn. */
  #isSuspicious = false
  /** The calls that wait until the leader has confirmed the session. */
  readonly #waiting = new Set<() => void>()
  /** The number of things that the session is about to hold. */
  #awaited = 0

  constructor(owner: LeaderCheckOwner, lease: Lease, clock: Clock) {
    this.#owner = owner
    this.#lease = lease
    this.#clock = clock
  }

  /** Asks the leader if it is time. Returns the milliseconds after which it must be called again at the latest. */
  check(): number {
    const connection = this.#owner.writableConnection
    const isNeeded = this.#lease.isHeld || this.#awaited > 0 || this.#waiting.size > 0
    if (connection === undefined || !isNeeded) return Infinity
    if (this.#question?.connection !== connection)
      this.#question = { connection, isPending: false, since: Infinity, notBefore: -Infinity }
    const question = this.#question
    const now = this.#clock.now()
    const leaveIn = this.#leaveIn(question, now)
    if (leaveIn <= 0) return this.#leave()
    this.#isSuspicious = false
    if (question.isPending) return leaveIn
    const askIn = Math.max(this.#lease.mustAskAt, question.notBefore) - now
    if (askIn > 0) return Math.min(askIn, leaveIn)
    void this.#ask(question)
    return this.#leaveIn(question, now)
  }

  /**
   * Resolves when the leader has confirmed the session, for long enough to begin to rely on it. Also resolves at the end
   * of the session.
   */
  async whenConfirmed(signal: AbortSignal | undefined): Promise<void> {
    if (this.#lease.confirmedFor() > 0) return
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(end)
        stopListening()
        if (signal?.aborted) reject(signal.reason as Error)
        else resolve()
      }
      const stopListening = onAbort(signal, end)
      this.#waiting.add(end)
      this.#owner.writableConnection?.beat()
    })
  }

  /** Confirms the session again and again, until the returned function is called. */
  keepConfirmed(): () => void {
    this.#awaited++
    this.#owner.writableConnection?.beat()
    return () => this.#awaited--
  }

  /** The session has ended. */
  end(): void {
    for (const end of this.#waiting) end()
  }

  /**
   * Returns how many milliseconds the client stays at this server. If the leader answers at another one, the time that
   * is left saves the session there. Each answer there renews it, so the client leaves again only after a longer wait. If
   * the lease has expired, there is nothing to save.
   */
  #leaveIn({ since }: Question, now: number): number {
    if (!this.#lease.isHeld || this.#lease.expired) return Infinity
    return Math.max(this.#lease.confirmedFor(), since + this.#owner.timeout * PATIENCE_SHARE - now)
  }

  #leave(): number {
    this.#isSuspicious = !this.#isSuspicious
    if (this.#isSuspicious) return 0
    this.#owner.leave('the leader does not confirm the session')
    return Infinity
  }

  async #ask(question: Question): Promise<void> {
    const { requests, timeout } = this.#owner
    const { connection } = question
    const startedAt = this.#clock.now()
    question.isPending = true
    question.since = Math.min(question.since, startedAt)
    try {
      if (!this.#lease.awaitsWrite) await requests.sendOn(connection, operations.sync, { path: '/' }, () => undefined)
      if (this.#lease.awaitsWrite) await this.#write(connection)
      question.since = Infinity
    } catch {
      // The connection was lost, or the server refuses.
      question.notBefore = startedAt + timeout * PATIENCE_SHARE
    }
    question.isPending = false
    if (this.#lease.confirmedFor() > 0) this.end()
    this.#owner.writableConnection?.beat()
  }

  /** @throws Error if the session has ended, or belongs to another server */
  async #write(connection: RequestSender): Promise<void> {
    const sentAt = readClocks(this.#clock)
    const results = await this.#owner.requests.sendOn(connection, operations.multi, WRITE, results => results)
    if (results.some(({ type, body }) => type === opcodes.error && NO_PROOF.includes(body.err)))
      throw new Error('no proof')
    this.#lease.renewByLeader(sentAt, true)
  }
}
