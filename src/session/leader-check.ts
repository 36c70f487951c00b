// Asks the leader about a session that holds something, and decides when to leave a server that has lost its leader. What
// the answers prove is in life/lease.ts. Only recipes create it, so programs without recipes do not load it.
import { onAbort } from '../runtime/abort.ts'
import { readClocks, type Clock } from '../runtime/clock.ts'
import { errnos, opcodes } from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import { isTerminal } from './life/states.ts'
import type { Connection } from './connection.ts'
import type { Request } from './requests/request.ts'
import { Window } from './requests/window.ts'
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
 * The probe is answered after all requests before it. So while the leader must be asked, few enough are in flight that
 * they delay it by this share of the session timeout at most. A lease needs three answers in a row: see life/lease.ts.
 */
const DELAY_SHARE = 1 / 32

/**
 * A write that changes nothing: a check of the root. Even NOAUTH as its result proves that the session is alive, because
 * the leader checks the session first. The errors of {@link NO_PROOF} prove nothing.
 */
const WRITE = [{ type: opcodes.check, body: { path: '/', version: -1 } }]
const NO_PROOF: readonly number[] = [errnos.SESSIONEXPIRED, errnos.SESSIONMOVED]

/** See {@link Probe.ahead}. */
const NONE = -1

/** What was asked on one connection. */
interface Probe {
  readonly connection: Connection
  isPending: boolean
  /** When the last request to the leader was sent. */
  sentAt: number
  /** How many replies are due before its own. {@link NONE} if that has arrived. */
  ahead: number
  /**
   * When the leader was first asked and has not confirmed the session since; Infinity if it has. Moved forward by the time
   * in which the leader had nothing to answer.
   */
  unconfirmedSince: number
  /** When the last probe was answered. */
  answeredAt: number
  /** The earliest time of the next probe. */
  notBefore: number
  /** Bounds the requests in flight. */
  readonly window: Window
  /** When the last reply arrived that was not to a probe. */
  repliedAt: number
}

export class LeaderCheck {
  readonly #session: Session
  readonly #settings: LeaderCheckSettings
  #probe: Probe | undefined
  /** The client is about to leave. But after a stall the answer may already be in the socket buffer, so wait one turn. */
  #isAboutToLeave = false
  /** The calls that wait until the leader has confirmed the session. */
  readonly #waiting = new Set<() => void>()
  /** The number of things that the session is about to hold. */
  #aboutToHold = 0

  constructor(session: Session, settings: LeaderCheckSettings) {
    this.#session = session
    this.#settings = settings
  }

  /** True if the session is certain to live long enough to begin to rely on it. */
  get isConfirmed(): boolean {
    const { lease } = this.#session
    lease.expireIfDue()
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
    const { requests } = this.#session
    this.#aboutToHold++
    this.#beat()
    return () => {
      this.#aboutToHold--
      requests.sendQueued()
    }
  }

  /** Makes the lease exact while something is held. Returns the function that ends that. */
  hold(): () => void {
    if (!this.#settings.asksLeader) return () => undefined
    const { lease, requests } = this.#session
    lease.hold()
    this.#beat()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      lease.release()
      requests.sendQueued()
    }
  }

  /**
   * Asks the leader if it is time, or leaves a server whose leader does not answer. Returns the milliseconds after which it
   * must be called again at the latest.
   */
  askIfDue(): number {
    const { writableConnection: connection, lease, requests } = this.#session
    // The lease may have ended, for which requests had to wait.
    requests.sendQueued()
    if (connection === undefined || !this.#isNeeded) return Infinity
    const probe = this.#probeOn(connection)
    const now = this.#settings.clock.now()
    const leaveIn = this.#leaveIn(probe, now)
    if (leaveIn <= 0) return this.#leaveServer()
    this.#isAboutToLeave = false
    if (probe.isPending) return leaveIn
    const askIn = Math.max(lease.mustAskAt, probe.notBefore) - now
    if (askIn > 0) return Math.min(askIn, leaveIn)
    void this.#ask(probe)
    return this.#leaveIn(probe, now)
  }

  // Called by the connection, for all requests

  /** Returns false if a request must wait, because it would delay the answer of the leader. */
  takes(connection: Connection, request: Request): boolean {
    if (!this.#isNeeded) return true
    const { window, isPending, repliedAt } = this.#probeOn(connection)
    const { lease } = this.#session
    if (!window.takes(request, connection.inFlight, lease.isHeld)) return false
    if (!lease.isHeld || lease.expired) return true
    // The answer is late. The next probe follows it at once, and must not find more requests before it.
    if (isPending && connection.inFlight > 1 && lease.confirmedFor() <= 0) return false
    if (!window.isSlow) return true
    // Each reply takes long. So the next request waits until the lease outlasts its reply and the answer behind it, or
    // until the lease has been renewed after the last reply: it will not become longer then.
    return lease.remaining() > 2 * window.delay || lease.confirmedAt >= repliedAt
  }

  onSent(connection: Connection, request: Request): void {
    if (this.#probe?.connection === connection) this.#probe.window.onSent(request, connection.inFlight)
  }

  onReply(connection: Connection, request: Request, now: number): void {
    const probe = this.#probe
    if (probe?.connection !== connection) return
    if (probe.ahead === 0) {
      probe.ahead = NONE
      return probe.window.forget(request)
    }
    probe.window.onReply(request, now)
    probe.repliedAt = now
    // The time behind requests of our own says nothing of the leader.
    if (probe.ahead !== NONE && --probe.ahead === 0) probe.unconfirmedSince += now - probe.sentAt
  }

  get #isNeeded(): boolean {
    return this.#session.lease.isHeld || this.#aboutToHold > 0 || this.#waiting.size > 0
  }

  #probeOn(connection: Connection): Probe {
    if (this.#probe?.connection !== connection)
      this.#probe = {
        connection,
        isPending: false,
        sentAt: 0,
        ahead: NONE,
        unconfirmedSince: Infinity,
        answeredAt: 0,
        notBefore: -Infinity,
        window: new Window(this.#session.timeout * DELAY_SHARE, connection.roundTrip),
        repliedAt: -Infinity,
      }
    return this.#probe
  }

  /** Lets all waits for a confirmation end, because the session is confirmed or has ended. */
  end(): void {
    for (const end of this.#waiting) end()
  }

  /** Lets the heartbeat call {@link askIfDue} now, and set its timer for the next time: one timer serves all. */
  #beat(): void {
    this.#session.writableConnection?.heartbeat.beat()
  }

  /**
   * Returns how many milliseconds the client stays at this server. If the leader answers at another one, the time that
   * is left saves a lock there. Each answer there renews the lease, so the client leaves again only after a longer wait.
   * If the lease has expired, there is nothing to save.
   */
  #leaveIn({ connection, isPending, unconfirmedSince, ahead, window }: Probe, now: number): number {
    const { lease, timeout } = this.#session
    if (lease.expired || !isPending) return Infinity
    const patience = timeout * (lease.isHeld ? HOLDER_PATIENCE : WAITER_PATIENCE)
    // Behind other requests, the leader cannot answer while their replies still arrive, or long requests are on their way.
    const silentSince =
      ahead > 0 ? Math.max(unconfirmedSince, connection.heartbeat.lastReceived) + window.delay : unconfirmedSince
    return Math.max(lease.confirmedFor(), silentSince + patience - now)
  }

  #leaveServer(): number {
    this.#isAboutToLeave = !this.#isAboutToLeave
    if (this.#isAboutToLeave) return 0
    this.#session.leaveServer('the leader does not confirm the session')
    return Infinity
  }

  async #ask(probe: Probe): Promise<void> {
    const { requests, lease, timeout } = this.#session
    const { connection } = probe
    const startedAt = this.#settings.clock.now()
    probe.isPending = true
    // From the last answer until now, the leader was asked nothing.
    probe.unconfirmedSince = Math.min(probe.unconfirmedSince + startedAt - probe.answeredAt, startedAt)
    try {
      if (!lease.awaitsWrite) {
        this.#countAhead(probe)
        await requests.sendOn(connection, operations.sync, { path: '/' }, () => undefined)
      }
      if (lease.awaitsWrite) {
        this.#countAhead(probe)
        await this.#write(connection)
      }
    } catch {
      // The connection was lost, or the server refuses.
      probe.notBefore = startedAt + timeout * HOLDER_PATIENCE
    }
    probe.isPending = false
    probe.answeredAt = Math.max(this.#settings.clock.now(), probe.notBefore)
    if (lease.confirmedFor() > 0) {
      probe.unconfirmedSince = Infinity
      this.end()
    }
    this.#beat()
  }

  #countAhead(probe: Probe): void {
    probe.sentAt = this.#settings.clock.now()
    probe.ahead = probe.connection.inFlight
  }

  /** @throws Error if the session has ended, or belongs to another server */
  async #write(connection: Connection): Promise<void> {
    const { requests, lease } = this.#session
    const sentAt = readClocks(this.#settings.clock)
    const results = await requests.sendOn(connection, operations.multi, WRITE, results => results)
    if (results.some(({ type, body }) => type === opcodes.error && NO_PROOF.includes(body.err)))
      throw new Error('no proof')
    lease.renewByLeader(sentAt, true)
  }
}
