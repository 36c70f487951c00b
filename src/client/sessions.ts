// One object for all callers of a process: it opens a session at first use, and the next one after a loss.
import { forwardAbort, onAbort, Scope, untilAborted } from '../runtime/abort.ts'
import { LONGEST_TIMER, readClocks, type Clock, type Timestamp } from '../runtime/clock.ts'
import { badArguments, ZooKeeperError } from '../protocol/index.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import { remaining } from '../session/life/lease.ts'
import { isTerminal, type State } from '../session/life/states.ts'
import { closeChecks, type Client, type CloseOptions } from './client.ts'
import type { CommonOptions, Settings } from './options.ts'
import { lockOf, UNSERVED, withOwnSession } from './own-session.ts'
import {
  sessionsChecks,
  useChecks,
  type OwnSessionsOptions,
  type SessionsStatus,
  type SessionWait,
  type UsableLock,
  type UseOptions,
} from './sessions-options.ts'
import { keptOptions, superviseWith, type Open, type SessionTask } from './supervise.ts'
import { checked } from './validation.ts'

/** A session that is open. */
interface Live {
  readonly client: Client
  /** Aborts when the session has ended or must be presumed lost. */
  readonly signal: AbortSignal
  /** When this process was last known to run. */
  aliveAt: Timestamp
}

/**
 * A process that was frozen for this share of T replaces its session, and the last ping can be as old before that. After
 * two thirds of T without an answer, the session still exists, but the leader confirms it only 0.27 T later (see
 * life/lease.ts), and a lock would have to wait for that.
 */
const FROZEN = 1 / 3

/** The sessions from a first use to the idle end, one after another: one call of supervise(). */
interface Run {
  readonly stop: AbortController
  /** The present session, or the next one. */
  next: NextSession
  /** The present session. */
  live?: Live | undefined
  /** Resolves when the last of the sessions is closed. */
  ended?: Promise<void>
}

type Task<T> = (client: Client, wait: SessionWait) => T | Promise<T>

/** The checked options of a call. */
interface Wait {
  readonly timeout: number
  readonly signal: AbortSignal | undefined
}

/** What an entry point gives to its `Sessions`. */
interface EntryPoint<O> {
  readonly open: Open<O>
  /** Checks the options and fills in the defaults. */
  readonly settingsOf: (options: O) => Settings
}

/** Implements `Sessions` for an entry point, which has its own way to open a session. */
export abstract class SessionsOf<O extends CommonOptions> implements AsyncDisposable {
  readonly #entry: EntryPoint<O>
  readonly #servers: string
  readonly #options: O
  readonly #clock: Clock
  readonly #idleTimeout: number | undefined
  readonly #setUp: SessionTask<unknown> | undefined
  #run: Run | undefined
  /** The runs, and the sessions of single calls, that have not ended yet. */
  readonly #runs = new Set<Promise<void>>()
  /** How many calls are in hand. */
  #uses = 0
  #idleTimer: unknown
  readonly #onUnused = new Set<() => void>()
  #isClosed = false
  /** Aborts when close() waits no longer for the calls in hand. Not an AbortController, because workers make none at their start. */
  readonly #abandoned = new Scope()
  #status: Omit<SessionsStatus, 'isReady'>

  protected constructor(entry: EntryPoint<O>, servers: string, options: O & OwnSessionsOptions) {
    if (Object(options) !== options || Array.isArray(options))
      throw badArguments('Sessions', '', 'options must be an object')
    const { idleTimeout, setUp, ...connectOptions } = options
    const own = { idleTimeout: idleTimeout ?? undefined, setUp: setUp ?? undefined }
    checked('Sessions', '', own, sessionsChecks)
    for (const name of ['signal', 'session'] as const)
      if (options[name] != null) throw badArguments('Sessions', '', `there is no option '${name}'`)
    parseConnectString(servers)
    this.#entry = entry
    this.#servers = servers
    this.#options = keptOptions(connectOptions as unknown as O)
    this.#clock = entry.settingsOf(this.#options).clock
    this.#idleTimeout = own.idleTimeout
    this.#setUp = own.setUp
    this.#status = { state: 'idle', since: this.#clock.wallNow(), reason: undefined }
  }

  /**
   * Whether calls are served now, since when, and why not. Opens no session: for a probe, call {@link whenReady}.
   * @example
   * const sessions = new Sessions('localhost:2181')
   * await sessions.close()
   * sessions.status.state // => 'closed'
   */
  get status(): SessionsStatus {
    return { isReady: this.#status.state === 'connected', ...this.#status }
  }

  /**
   * Runs a task with the client of the present session. Waits for a session first, at most for the timeout. The limit
   * is not one for the task: it can pass its `wait` to calls that must not take longer.
   * @returns the result of the task
   * @throws the error of the task; the reason of the signal; ZooKeeperError CONNECTIONLOSS if there was no session in
   * time; CLOSED after {@link close}; AUTHFAILED, ACCESSDENIED, PROTOCOL as `connect`; BADARGUMENTS. A call to which the signal of
   * `wait` was passed rejects with OPERATIONTIMEOUT after the timeout, and with CONNECTIONLOSS, SESSIONEXPIRED or CLOSED
   * if the session is lost
   * @example
   * await using sessions = new Sessions('localhost:2181')
   * await sessions.use({ timeout: 500 }, (client, { signal }) => client.exists('/app', { signal })) // => null
   */
  async use<T>(options: UseOptions, task: Task<T>): Promise<T> {
    const { timeout = 5000, signal } = checked('use', '', options, useChecks)
    if (typeof task !== 'function') throw badArguments('use', '', 'the task must be a function')
    return this.#use({ timeout, signal }, task)
  }

  /** @param total the whole timeout of the call, for errors, if a part of it is over */
  async #use<T>({ timeout, signal }: Wait, task: Task<T>, total = timeout): Promise<T> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw closedError()
    const ending = new AbortController()
    const stops = [signal, this.#abandoned.signal].map(each => forwardAbort(each, ending))
    const until = this.#clock.now() + timeout
    let timer: unknown
    const limit = (error: () => ZooKeeperError) => {
      const left = Math.max(0, until - this.#clock.now())
      if (left <= LONGEST_TIMER && !ending.signal.aborted)
        timer = this.#clock.setTimeout(() => ending.abort(error()), left)
    }
    // The task may go on for ever after that.
    stops.push(onAbort(ending.signal, () => this.#clock.clearTimeout(timer)))
    this.#begin()
    try {
      limit(() => this.#noSession(total))
      const live = await this.#whenLive(ending.signal)
      this.#clock.clearTimeout(timer)
      stops.push(forwardAbort(live.signal, ending))
      const result = task(live.client, { signal: ending.signal, timeout: Math.max(0, until - this.#clock.now()) })
      // After the task has begun, so that the timeouts of its own waits end first: their errors say more.
      limit(() => new ZooKeeperError('OPERATIONTIMEOUT', { op: 'use', fate: 'unknown', detail: `${total} ms` }))
      return await result
    } finally {
      this.#clock.clearTimeout(timer)
      for (const stop of stops) stop()
      await this.#end()
    }
  }

  /**
   * Runs a function while a lock is held, as `use` of a lock does. The timeout limits the wait for the session and the
   * lock together, and not the function. If the session is lost during the wait, the call waits in the next one. If it
   * is lost while the function runs, the lock is lost, and the function is not run again.
   *
   * With an `idleTimeout` of 0, the call opens a session of its own, unless there is one. It takes three round trips if the
   * lock is free and its directory exists: TCP; the handshake together with the requests of the lock; the release together
   * with the end of the session. If its connection is lost before a server has answered, its node may block the lock for
   * the session timeout, so choose a short one.
   * @param newLock makes the lock in the session of this client
   * @throws RecipeError TIMEOUT if the lock was not free in time, LOST as `use` of the lock; otherwise as {@link use}
   * @example
   * await using sessions = new Sessions('localhost:2181')
   * const lock = (client: Client) => new Mutex(client, '/locks/order-7')
   * await sessions.withLock(lock, { timeout: 2_000 }, held => held.validFor() > 0) // => true
   */
  async withLock<H, T>(
    newLock: (client: Client) => UsableLock<H>,
    options: UseOptions,
    fn: (held: H) => T | Promise<T>,
  ): Promise<T> {
    const { timeout = 5000, signal } = checked('withLock', '', options, useChecks)
    if (typeof newLock !== 'function') throw badArguments('withLock', '', 'the first argument must be a function')
    if (typeof fn !== 'function') throw badArguments('withLock', '', 'the last argument must be a function')
    const until = this.#clock.now() + timeout
    let left = timeout
    if (this.#idleTimeout === 0 && this.#run === undefined && this.#setUp === undefined && !signal?.aborted) {
      const result = await this.#inOwnSession(newLock, { timeout, signal }, fn)
      if (result !== UNSERVED) return result
      left = Math.max(0, until - this.#clock.now())
    }
    for (;;) {
      let used: Client | undefined
      let hasBegun = false as boolean
      const begin = (held: H) => {
        hasBegun = true
        return fn(held)
      }
      const task = (client: Client, wait: SessionWait) => {
        used = client
        return lockOf(newLock, client).use(begin, wait)
      }
      try {
        return await this.#use({ timeout: left, signal }, task, timeout)
      } catch (error) {
        left = until - this.#clock.now()
        const isLost = used?.validFor() === 0
        if (hasBegun || !isLost || left <= 0 || this.#isClosed || signal?.aborted) throw error
      }
    }
  }

  /**
   * Resolves when a session serves calls. Opens one if there is none: for a probe, or for a start that must fail early.
   * @throws ZooKeeperError as {@link use}; the reason of the signal
   * @example
   * await using sessions = new Sessions('localhost:2181')
   * await sessions.whenReady({ timeout: 1_000 })
   * sessions.status.isReady // => true
   */
  whenReady(options: UseOptions = {}): Promise<void> {
    return this.use(options, () => undefined)
  }

  /**
   * Ends everything in order: refuses new calls with CLOSED, waits for those in hand, then closes the session. After the
   * timeout it waits no longer: the signals of the calls in hand abort, and the session is closed, with all their locks.
   * May be called again, also with a shorter timeout. Default: it waits without limit.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * const sessions = new Sessions('localhost:2181')
   * const reading = sessions.use({}, client => client.exists('/app'))
   * await sessions.close({ timeout: 20_000 })
   * await reading // => null
   * await sessions.whenReady() // throws CLOSED
   */
  async close(options: CloseOptions = {}): Promise<void> {
    const { timeout = Infinity } = checked('close', '', options, closeChecks)
    this.#isClosed = true
    this.#clock.clearTimeout(this.#idleTimer)
    this.#enter('closed')
    if (this.#uses > 0) await this.#unused(timeout)
    this.#abandoned.abort(closedError())
    this.#stop()
    await Promise.all(this.#runs)
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #inOwnSession<H, T>(
    newLock: (client: Client) => UsableLock<H>,
    { timeout, signal }: Wait,
    fn: (held: H) => T | Promise<T>,
  ): Promise<T | typeof UNSERVED> {
    if (this.#isClosed) throw closedError()
    const until = this.#clock.now() + timeout
    const ending = new AbortController()
    const stops = [signal, this.#abandoned.signal].map(each => forwardAbort(each, ending))
    const wait = { signal: ending.signal, timeout }
    let reason: unknown
    const onConnectionError = (error: ZooKeeperError) => {
      reason = error
      this.#options.onConnectionError?.(error)
    }
    let client!: Client
    const onClient = (opened: Client) => {
      client = opened
      void this.#track(new Promise(resolve => opened.on('state', state => (isTerminal(state) ? resolve() : undefined))))
    }
    this.#begin()
    try {
      const target = parseConnectString(this.#servers)
      this.#entry.open(target, { ...this.#options, onConnectionError }, { onClient }).catch(ignore)
      const result = await withOwnSession(client, newLock, wait, this.#abandoned.signal, fn)
      if (result === UNSERVED && this.#clock.now() >= until) throw this.#noSession(timeout, reason)
      return result
    } finally {
      for (const stop of stops) stop()
      await this.#end()
    }
  }

  // The calls in hand

  #begin(): void {
    this.#replaceIfFrozen()
    this.#uses++
    this.#clock.clearTimeout(this.#idleTimer)
  }

  async #end(): Promise<void> {
    if (--this.#uses > 0) return
    for (const onUnused of this.#onUnused) onUnused()
    const run = this.#run
    if (this.#idleTimeout === undefined || run === undefined || this.#isClosed) return
    const stop = () => {
      this.#stop()
      this.#enter('idle')
    }
    if (this.#idleTimeout > 0) {
      this.#idleTimer = this.#clock.setTimeout(stop, this.#idleTimeout)
      return
    }
    stop()
    await run.ended
  }

  /** Resolves when no call is in hand, or after the timeout of this call of close() or of another one. */
  #unused(timeout: number): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        this.#clock.clearTimeout(timer)
        stopListening()
        this.#onUnused.delete(end)
        resolve()
      }
      // Another call of close() may wait for a shorter time.
      const stopListening = onAbort(this.#abandoned.signal, end)
      const timer = timeout <= LONGEST_TIMER ? this.#clock.setTimeout(end, timeout) : undefined
      this.#onUnused.add(end)
    })
  }

  /** Waits for a session that serves calls. */
  async #whenLive(ending: AbortSignal): Promise<Live> {
    const readOnly = this.#options.readOnly ?? false
    for (;;) {
      const live = await untilAborted((this.#run ?? this.#start()).next.promise, ending)
      // A process that was stopped for too long learns here, and not by a timer, that it has lost its session.
      live.client.validFor()
      if (live.signal.aborted) continue
      if (live.client.state === 'connected') return live
      try {
        await untilAborted(live.client.whenConnected({ signal: ending, readOnly }), live.signal)
        return live
      } catch (error) {
        if (!hasAborted(live.signal)) throw error
        ending.throwIfAborted()
      }
    }
  }

  #noSession(timeout: number, reason = this.#status.reason): ZooKeeperError {
    const why = reason instanceof Error ? `: ${reason.message}` : ''
    const detail = `there was no session within ${Math.round(timeout)} ms${why}`
    return new ZooKeeperError('CONNECTIONLOSS', { op: 'use', fate: 'notSent', detail, cause: reason })
  }

  // The sessions

  #start(): Run {
    const run: Run = { stop: new AbortController(), next: nextSession() }
    this.#run = run
    this.#enter('connecting')
    const { signal } = run.stop
    const onConnectionError = (error: ZooKeeperError) => {
      if (this.#run === run && this.#status.state !== 'connected') this.#status.reason = error
      this.#options.onConnectionError?.(error)
    }
    const options = { ...this.#options, signal, onConnectionError }
    const { open, settingsOf } = this.#entry
    const task: SessionTask<void> = (client, lost) => this.#serve(run, client, lost)
    const supervised = superviseWith(open, settingsOf, this.#servers, options, task)
    const onEnd = (failure?: unknown) => {
      const isPresent = this.#run === run
      if (isPresent) this.#run = undefined
      if (failure !== undefined) {
        run.next.reject(failure)
        if (isPresent) this.#enter('failed', failure)
        return
      }
      // A task has closed the client.
      if (this.#uses > 0) run.next.resolve(this.#start().next.promise)
      else this.#enter('idle')
    }
    run.ended = this.#track(supervised.then(() => onEnd(), onEnd))
    return run
  }

  /** Lets close() wait for a promise. */
  #track(ended: Promise<void>): Promise<void> {
    const tracked = ended.then(() => void this.#runs.delete(tracked))
    this.#runs.add(tracked)
    return tracked
  }

  /** Opens a new session if the process was frozen, unless this one has locks of calls in hand, or nodes of the set-up. */
  #replaceIfFrozen(): void {
    const live = this.#run?.live
    if (live === undefined) return
    const now = readClocks(this.#clock)
    const isFrozen = remaining(live.aliveAt, live.client.sessionTimeout * FROZEN, now) === 0
    live.aliveAt = now
    if (!isFrozen || this.#uses > 0 || this.#setUp !== undefined) return
    this.#stop()
    this.#start()
  }

  #stop(): void {
    const run = this.#run
    this.#run = undefined
    run?.stop.abort(closedError())
  }

  /** The task of supervise(): makes the session that of all callers, until it is lost. */
  async #serve(run: Run, client: Client, lost: AbortSignal): Promise<void> {
    const setUp = this.#setUp
    if (setUp !== undefined) {
      const settingUp = client.retry(() => Promise.resolve(setUp(client, lost)), { signal: lost })
      // close() does not wait for a set-up that ignores its signal. The set-up of the next session does.
      await untilAborted(settingUp, run.stop.signal)
    }
    lost.throwIfAborted()
    const onState = (state: State) => {
      if (this.#run === run && (state === 'suspended' || state === 'connected' || state === 'connectedReadOnly'))
        this.#enter(state)
    }
    const live = { client, signal: lost, aliveAt: readClocks(this.#clock) }
    let timer: unknown
    const beat = () => {
      timer = this.#clock.setTimeout(beat, (client.sessionTimeout * FROZEN) / 3)
      this.#replaceIfFrozen()
    }
    await new Promise<void>(resolve => {
      onAbort(lost, () => {
        client.off('state', onState)
        this.#clock.clearTimeout(timer)
        run.live = undefined
        run.next = nextSession()
        if (this.#run === run) this.#enter('connecting', client.leaseSignal.reason)
        resolve()
      })
      client.on('state', onState)
      onState(client.state)
      run.live = live
      run.next.resolve(live)
      beat()
    })
  }

  #enter(state: SessionsStatus['state'], reason: unknown = this.#status.reason): void {
    const known = this.#status
    const next = this.#isClosed ? 'closed' : state
    const since = next === known.state ? known.since : this.#clock.wallNow()
    const isFine = next === 'connected' || next === 'idle' || next === 'closed'
    this.#status = { state: next, since, reason: isFine ? undefined : reason }
  }
}

/** A function, because TypeScript does not know that a signal may abort during an await. */
const hasAborted = (signal: AbortSignal): boolean => signal.aborted

const ignore = (): void => undefined

const closedError = () => new ZooKeeperError('CLOSED', { op: 'use', fate: 'notSent' })

interface NextSession {
  readonly promise: Promise<Live>
  readonly resolve: (live: Live | Promise<Live>) => void
  readonly reject: (error: unknown) => void
}

function nextSession(): NextSession {
  let resolve!: NextSession['resolve']
  let reject!: NextSession['reject']
  const promise = new Promise<Live>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // A rejection is reported to the calls that wait, and there may be none.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
