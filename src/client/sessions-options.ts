// The options of Sessions, and what its calls pass and return.
import { aDelay, aFunction, type Checks } from '../options/checks.ts'
import type { State } from '../session/life/states.ts'
import type { SessionTask } from './supervise.ts'
import { aTimeout, signalChecks, type SignalOption } from './validation.ts'

/** The options of `Sessions` that `connect` has not. */
export interface OwnSessionsOptions {
  /**
   * Closes the session when no call has used it for so many milliseconds. The next call opens another one. With 0, each
   * call resolves when the session is closed, and `withLock()` takes three round trips. Default: the session stays open
   * until `close()` of `Sessions`.
   */
  idleTimeout?: number | undefined
  /**
   * Called with the client of each new session, before any caller gets it. Sets up what must be there in each session:
   * `start(client)` of a Membership or of Services, caches, nodes. Called again after CONNECTIONLOSS. Another error
   * rejects the calls that wait, and the next call tries again in a new session. Default: none.
   */
  setUp?: SessionTask<unknown> | undefined
}

/**
 * Options of `use()` of `Sessions`, `withLock()` of `Sessions` and `whenReady()` of `Sessions`.
 * @example
 * await using sessions = new Sessions('localhost:2181')
 * const options: UseOptions = { timeout: 500 }
 * await sessions.use(options, (client, { signal }) => client.exists('/app', { signal })) // => null
 */
export interface UseOptions extends SignalOption {
  /**
   * How long the call may wait, in milliseconds, 0 or more: for a session, and then for what it passes its
   * {@link SessionWait} to. There is no limit if it is greater than 2147483647. Default 5 000.
   */
  timeout?: number | undefined
}

/**
 * What is left of the wait of a call of `use()` of `Sessions`. Has the shape of the options of all calls that wait.
 * @example
 * await using sessions = new Sessions('localhost:2181')
 * const listAll = async (client: Client, { signal }: SessionWait) => (await client.getChildren('/', { signal })).children
 * await sessions.use({ timeout: 500 }, listAll) // => ['zookeeper']
 */
export interface SessionWait {
  /**
   * Aborts when the timeout of the call is over, when its own signal aborts, when the session has ended or must be
   * presumed lost, and when `close()` of `Sessions` waits no longer. Pass it to reads and to calls that wait.
   */
  signal: AbortSignal
  /** The rest of the timeout, in milliseconds. Pass it to a lock, which then rejects with TIMEOUT if it is taken. */
  timeout: number
}

/**
 * Whether calls are served now, since when, and why not.
 * @example
 * await using sessions = new Sessions('localhost:2181')
 * await sessions.whenReady()
 * const status: SessionsStatus = sessions.status
 * status.isReady // => true
 * status.state // => 'connected'
 */
export interface SessionsStatus {
  /** True if a server that accepts writes serves the session. */
  isReady: boolean
  /**
   * That of the client, and three of its own. `idle`: there is no session, because no call needs one; `failed`: the same,
   * because of an error that another attempt cannot mend; the next call tries nevertheless. `closed`: after
   * `close()` of `Sessions` was called.
   */
  state: Exclude<State, 'expired' | 'authFailed'> | 'idle' | 'failed'
  /** When this state began, in milliseconds since 1970. */
  since: number
  /** Why the session is not ready: the last error. Undefined if it is ready or idle. */
  reason: unknown
}

export const sessionsChecks: Checks<OwnSessionsOptions> = {
  idleTimeout: aDelay,
  setUp: aFunction,
}
export const useChecks: Checks<UseOptions> = { ...signalChecks, timeout: aTimeout }

/** What `withLock()` of `Sessions` needs of a lock. All locks of `zkwire/recipes` have it. */
export interface UsableLock<H> {
  /** Runs the function while the lock is held. The options limit the wait for the lock. */
  use<T>(fn: (held: H) => T | Promise<T>, options: SessionWait): Promise<T>
}
