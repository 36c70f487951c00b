// The options of connect(), checked and completed once.
import { LONGEST_TIMER, systemClock, type Clock } from '../runtime/clock.ts'
import { systemRandom, type Random } from '../runtime/random.ts'
import { badArguments, type ACL, type ZooKeeperError } from '../protocol/index.ts'
import { aBoolean, aFunction, mustBe, optionsProblem, type Check, type Checks } from '../options/checks.ts'
import type { Mechanism } from '../session/life/sasl.ts'
import type { ObservedFrame } from '../session/observed-frame.ts'
import type { SessionSettings } from '../session/session.ts'
import { copyOfACL, openACL } from './acl.ts'
import type { Outage } from './outages.ts'
import { anACL, aSignal, hasMethod, isListOfObjects } from './validation.ts'

/**
 * The options of every entry point: `zkwire` and `zkwire/cloudflare`. Numbers must be above 0 and below 2^31. An option
 * that is null counts as left out.
 * @example
 * const options: CommonOptions = { sessionTimeout: 30_000, auth: [{ scheme: 'digest', auth: 'ann:secret' }] }
 * await using zk = await connect('localhost:2181', options)
 * const identities = await zk.whoAmI()
 * identities.some(({ authScheme }) => authScheme === 'digest') // => true
 */
export interface CommonOptions {
  /**
   * Session timeout to request, in milliseconds, at least 1. The server may choose another, by default from 2 to 20 of
   * its ticks. Default 30 000.
   */
  sessionTimeout?: number | undefined
  /**
   * How long connect() keeps trying, in milliseconds. Then it rejects with CONNECTTIMEOUT. Set it to wait for servers
   * that are not started yet. Default: the session timeout, but connect() rejects with NOSERVER as soon as no host has a
   * server, that is, if each of them has refused the connection, is an unknown name, or belongs to a server of another
   * kind.
   */
  connectTimeout?: number | undefined
  /**
   * How long one attempt at one host may take, in milliseconds: connecting, handshakes and SASL together. Then the next
   * host is tried. Without this limit a server that is just starting would block connect(), because it accepts the
   * connection but never replies (seen with 3.8.0). Default: half of the session timeout, or of `connectTimeout` if that
   * is shorter, divided by the number of hosts, and at most 1 000. So a lost connection can be replaced before the
   * session expires, even if only one host answers. The time doubles after each round of hosts that were silent. It is
   * at most a third of the session timeout, and at most 5 000.
   */
  attemptTimeout?: number | undefined
  /** Aborting cancels connect(), which then rejects with `signal.reason`. */
  signal?: AbortSignal | undefined
  /**
   * Accepts a server that has lost its quorum. Such a server answers reads, but rejects writes with NOTREADONLY.
   * Default false.
   */
  readOnly?: boolean | undefined
  /**
   * Makes the lease of a lock exact. While the session holds a lock, a leadership or a queue item, the client asks the
   * leader every 0.27 session timeouts, by a sync and a write that changes nothing, and leaves a server that cannot
   * reach the leader. With `false` it only pings: a server that is cut off from the leader then keeps a holder in its
   * belief for about `syncLimit` ticks after another client has the lock. Default: true.
   */
  asksLeader?: boolean | undefined
  /**
   * A session to resume, by the `sessionId` and `sessionPassword` of its client. If it has expired, connect() rejects
   * with SESSIONEXPIRED. Default: a new session.
   */
  session?: { id: bigint; password: Uint8Array } | undefined
  /**
   * Credentials, as for `addAuth`. On every connection they are sent before any other request, except those of `sasl`.
   * Default: none.
   */
  auth?: readonly { scheme: string; auth: Uint8Array | string }[] | undefined
  /**
   * Authenticates every connection before any other request is sent on it: `digestMd5({ username, password })` of
   * `zkwire/sasl`, or your own mechanism. A failure ends the session with the state `authFailed`: the client never goes
   * on without authentication. Default: no SASL.
   */
  sasl?: Mechanism | undefined
  /**
   * ACL of each node that a call or a recipe of this client creates without an `acl` of its own, and of all missing nodes
   * above, also if the call has an `acl`. Nodes that exist keep theirs. Default {@link openACL}: everybody may do
   * everything.
   */
  acl?: readonly ACL[] | undefined
  /**
   * Longest request that is sent, in bytes, including its header. Longer ones reject with REQUESTTOOLARGE. Keep it
   * below the server's jute.maxbuffer, because a server closes the connection over a longer request. Default 1 048 575.
   */
  maxRequestBytes?: number | undefined
  /**
   * Longest reply that is accepted, in bytes. A longer one ends the connection, and its request rejects with
   * REPLYTOOLARGE. Default 16 777 216 (16 MiB).
   */
  maxReplyBytes?: number | undefined
  /**
   * The most requests that may wait for a reply at a time. Further ones reject with TOOMANYPENDING, except the removal
   * of watches. Default 100 000.
   */
  maxPending?: number | undefined
  /**
   * Source of time. Tests can pass a `VirtualClock` of `zkwire/testing`. Default: the clocks and timers of the runtime.
   */
  clock?: Clock | undefined
  /**
   * Returns random numbers in [0, 1), for the order of hosts, pauses, nonces and UUIDs. No two clients may get the same
   * ones, because recipes tell the nodes of clients apart by UUIDs. Default: the cryptographic generator of the runtime.
   */
  random?: Random | undefined
  /**
   * Called with every frame that is sent or received, in order. Frames contain passwords; `explain` does not show them.
   * Default: none.
   */
  onFrame?: ((frame: ObservedFrame) => void) | undefined
  /**
   * Called with an error each time that an attempt to connect fails, or a connection is lost, also before connect() or
   * supervise() has connected. The message names the host and its answer. The code is NOSERVER, ACCESSDENIED or PROTOCOL
   * for an attempt, and CONNECTIONLOSS or PROTOCOL for a connection. For a log, use `onOutage`. Default: none.
   */
  onConnectionError?: ((error: ZooKeeperError) => void) | undefined
  /**
   * Called twice for each time without a connection: when it begins, and when a server has accepted a session again.
   * With `supervise`, one outage can outlast several sessions. Not called for the end of an outage that lasts until the
   * session, or `supervise`, ends. Default: none.
   */
  onOutage?: ((outage: Outage) => void) | undefined
  /**
   * Called with errors of your callbacks: those that they throw, and the reasons that their promises reject with. Also
   * called if `followEnsemble` cannot read the configuration. An error that it throws becomes an uncaught exception.
   * Default: console.error.
   */
  onUncaughtError?: ((error: unknown) => void) | undefined
}

/** All options with their defaults, and the choices of the entry point. */
export interface Settings extends SessionSettings {
  readonly acl: readonly ACL[]
}

/**
 * Returns a check for a number above 0.
 * @param least smallest allowed value. It is 1 for values that are sent as whole milliseconds
 */
export const aNumber = (least = 0): Check =>
  mustBe(
    `a number ${least > 0 ? `from ${least}` : 'above 0'} to ${LONGEST_TIMER}`,
    (value: unknown) => typeof value === 'number' && value > 0 && value >= least && value <= LONGEST_TIMER,
  )

/** Returns the checks, which then also accept null: it counts as left out. */
export const orNull = <O>(checks: Checks<O>): Checks<O> =>
  Object.fromEntries(
    Object.entries<Check>(checks).map(([name, check]): [string, Check] => [
      name,
      value => (value === null ? undefined : check(value)),
    ]),
  ) as Checks<O>

const isSession = ({ id, password }: Partial<NonNullable<CommonOptions['session']>>): boolean =>
  typeof id === 'bigint' && password instanceof Uint8Array

export const commonChecks: Checks<CommonOptions> = {
  sessionTimeout: aNumber(1),
  connectTimeout: aNumber(),
  attemptTimeout: aNumber(),
  signal: aSignal,
  readOnly: aBoolean,
  asksLeader: aBoolean,
  session: mustBe('{id, password}, a bigint and a Uint8Array', isSession),
  auth: mustBe('a list of {scheme, auth}', isListOfObjects),
  acl: anACL,
  sasl: mustBe('a mechanism, such as digestMd5(…)', (value: unknown) => hasMethod(value, 'start')),
  maxRequestBytes: aNumber(),
  maxReplyBytes: aNumber(),
  maxPending: aNumber(),
  clock: mustBe('a clock', (value: unknown) => hasMethod(value, 'wallNow')),
  random: aFunction,
  onFrame: aFunction,
  onConnectionError: aFunction,
  onOutage: aFunction,
  onUncaughtError: aFunction,
}

/** @throws ZooKeeperError BADARGUMENTS if an option is unknown or invalid */
export function checkOptions<O extends object>(options: O, checks: Checks<O>): void {
  const problem = optionsProblem<O>(options, checks)
  if (problem !== undefined) throw badArguments('connect', '', problem)
}

/** The settings that an entry point chooses, not the caller. */
export type EntryPointSettings = Pick<
  SessionSettings,
  'dial' | 'failureToOpen' | 'newSrvHosts' | 'debugLog' | 'network'
>

/** Fills in the defaults of options that were checked. */
export function settingsOf(options: CommonOptions, chosen: EntryPointSettings): Settings {
  const sessionTimeout = options.sessionTimeout ?? 30_000
  const { dial, failureToOpen, newSrvHosts, debugLog, network } = chosen
  // Not spread: V8 makes a slow object of a literal with a spread, and each session reads its settings often.
  return {
    dial,
    failureToOpen,
    newSrvHosts,
    debugLog,
    network,
    sessionTimeout,
    sendsAhead: false,
    connectTimeout: options.connectTimeout ?? sessionTimeout,
    waitsForServers: options.connectTimeout != null,
    attemptTimeout: options.attemptTimeout ?? Math.min(sessionTimeout / 3, 5000),
    sharesTime: options.attemptTimeout == null,
    readOnly: options.readOnly ?? false,
    asksLeader: options.asksLeader ?? true,
    auth: options.auth ?? NO_CREDENTIALS,
    acl: copyOfACL(options.acl ?? undefined) ?? openACL,
    maxRequestBytes: options.maxRequestBytes ?? 1_048_575,
    maxReplyBytes: options.maxReplyBytes ?? 16 * 1024 * 1024,
    maxPending: options.maxPending ?? 100_000,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    onUncaughtError: options.onUncaughtError ?? printError,
    sasl: options.sasl ?? undefined,
    session: options.session ?? undefined,
    onFrame: options.onFrame ?? undefined,
    onConnectionError: options.onConnectionError ?? undefined,
  }
}

const NO_CREDENTIALS: Settings['auth'] = []
const printError = (error: unknown): void => console.error(error)
