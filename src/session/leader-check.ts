// Asks the leader about a session that holds something, and decides when to leave a server that has lost its leader. What
// the answers prove is in life/lease.ts. Only recipes create it, so programs without recipes do not load it.
import { onAbort } from '../runtime/abort.ts'
import { readClocks, type Clock } from '../runtime/clock.ts'
import { errnos, opcodes } from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import { isTerminal } from './life/states.ts'
import type { RequestSender } from './requests/requests.ts'
import type { Session } from './session.ts'

export interface LeaderCheckSettings {
  clock: Clock
  /** False if pings renew the lease of a session that holds something too. */
  asksLeader: boolean
}

/** If the leader has not answered for this share of the session timeout, a session that holds something may leave. */
const HOLDER_PATIENCE = 1 / 8

/**
 * A session that only waits has no lease to save, so it stays longer with a slow leader. After this share it leaves,
 * because one answer on a new connection confirms it.
 */
const WAITER_PATIENCE = 1 / 3

/**
 * A write that changes nothing: a check of the root. Even NOAUTH as its result proves that the session is alive, because
 * the leader checks the session first. The errors of {@link NO_PROOF} prove nothing.
 */
const WRITE = [{ type: opcodes.check, body: { path: '/', version: -1 } }]
const NO_PROOF: readonly number[] = [errnos.SESSIONEXPIRED, errnos.SESSIONMOVED]

/** What was asked on one connection. */
interface Question {
  readonly connection: RequestSender
  isPending: boolean
  /** When the leader was first asked and has not confirmed the session since; Infinity if it has. */
  askedAt: number
  /** The earliest time of the next question. */
  notBefore: number
}

export class LeaderCheck {
  readonly #session: Session
  readonly #settings: LeaderCheckSettings
  #question: Question | undefined
  /** The client is about to leave. But after a stall the answer may already be in the socket buffer, so wait one turn. */
  #isSuspicious = false
  /** The calls that wait until the leader has confirmed the session. */
  readonly #waiting = new Set<() => void>()
  /** The number of things that the session is about to hold. */
  #awaited = 0

  constructor(session: Session, settings: LeaderCheckSettings) {
    this.#session = session
    this.#settings = settings
  }

  /** True if the session is certain to live long enough to begin to rely on it. */
  get isConfirmed(): boolean {
    const { lease } = this.#session
    lease.check()
    return this.#settings.asksLeader ? lease.confirmedFor() > 0 : !lease.expired
  }

  /** Resolves when {@link isConfirmed} is likely true, or the session has ended. */
  async whenConfirmed(signal: AbortSignal | undefined): Promise<void> {
    if (this.isConfirmed || isTerminal(this.#session.state)) return
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(end)
        stopListening()
        if (signal?.aborted) reject(signal.reason as Error)
        else resolve()
      }
      const stopListening = onAbort(signal, end)
      this.#waiting.add(end)
      this.#beat()
    })
  }

  /**
   * Keeps {@link isConfirmed} true until the returned function is called, so that the session need not ask when it gets
   * what it waits for.
   */
  keepConfirmed(): () => void {
    if (!this.#settings.asksLeader) return () => undefined
    this.#awaited++
    this.#beat()
    return () => this.#awaited--
  }

  /** Makes the lease exact while something is held. Returns the function that ends that. */
  hold(): () => void {
    if (!this.#settings.asksLeader) return () => undefined
    const { lease } = this.#session
    lease.hold()
    this.#beat()
    let isHeld = true
    return () => {
      if (isHeld) lease.release()
      isHeld = false
    }
  }

  /** Asks the leader if it is time. Returns the milliseconds after which it must be called again at the latest. */
  check(): number {
    const { writableConnection: connection, lease } = this.#session
    const isNeeded = lease.isHeld || this.#awaited > 0 || this.#waiting.size > 0
    if (connection === undefined || !isNeeded) return Infinity
    if (this.#question?.connection !== connection)
      this.#question = { connection, isPending: false, askedAt: Infinity, notBefore: -Infinity }
    const question = this.#question
    const now = this.#settings.clock.now()
    const leaveIn = this.#leaveIn(question, now)
    if (leaveIn <= 0) return this.#leave()
    this.#isSuspicious = false
    if (question.isPending) return leaveIn
    const askIn = Math.max(lease.mustAskAt, question.notBefore) - now
    if (askIn > 0) return Math.min(askIn, leaveIn)
    void this.#ask(question)
    return this.#leaveIn(question, now)
  }

  /** Lets all waits for a confirmation end, because the session is confirmed or has ended. */
  end(): void {
    for (const end of this.#waiting) end()
  }

  /** Lets the heartbeat call {@link check} now. */
  #beat(): void {
    this.#session.writableConnection?.heartbeat.beat()
  }

  /**
   * Returns how many milliseconds the client stays at this server. If the leader answers at another one, the time that
   * is left saves a lock there. Each answer there renews the lease, so the client leaves again only after a longer wait.
   * If the lease has expired, there is nothing to save.
   */
  #leaveIn({ askedAt }: Question, now: number): number {
    const { lease, timeout } = this.#session
    if (lease.expired) return Infinity
    const patience = timeout * (lease.isHeld ? HOLDER_PATIENCE : WAITER_PATIENCE)
    return Math.max(lease.confirmedFor(), askedAt + patience - now)
  }

  #leave(): number {
    this.#isSuspicious = !this.#isSuspicious
    if (this.#isSuspicious) return 0
    this.#session.leave('the leader does not confirm the session')
    return Infinity
  }

  async #ask(question: Question): Promise<void> {
    const { requests, lease, timeout } = this.#session
    const { connection } = question
    const startedAt = this.#settings.clock.now()
    question.isPending = true
    question.askedAt = Math.min(question.askedAt, startedAt)
    try {
      if (!lease.awaitsWrite) await requests.sendOn(connection, operations.sync, { path: '/' }, () => undefined)
      if (lease.awaitsWrite) await this.#write(connection)
    } catch {
      // The connection was lost, or the server refuses.
      question.notBefore = startedAt + timeout * HOLDER_PATIENCE
    }
    question.isPending = false
    if (lease.confirmedFor() > 0) {
      question.askedAt = Infinity
      this.end()
    }
    this.#beat()
  }

  /** @throws Error if the session has ended, or belongs to another server */
  async #write(connection: RequestSender): Promise<void> {
    const { requests, lease } = this.#session
    const sentAt = readClocks(this.#settings.clock)
    const results = await requests.sendOn(connection, operations.multi, WRITE, results => results)
    if (results.some(({ type, body }) => type === opcodes.error && NO_PROOF.includes(body.err)))
      throw new Error('no proof')
    lease.renewByLeader(sentAt, true)
  }
}
