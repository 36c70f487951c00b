// The options of connect(), checked and completed once.
import { systemClock, type Clock } from '../runtime/clock.ts'
import { systemRandom, type Random } from '../runtime/random.ts'
import { badArguments } from '../protocol/index.ts'
import { mustBe, optionsProblem, type Check, type Checks } from '../protocol/option-checks.ts'
import type { Mechanism } from '../session/life/sasl.ts'
import type { ObservedFrame } from '../session/observed-frame.ts'
import type { SessionSettings } from '../session/session.ts'
import type { Dial } from '../transport/transport.ts'
import { aBoolean, aFunction, aSignal, hasMethod, isListOfObjects } from './validation.ts'

/** The options that every entry point takes: `zkwire` and `zkwire/cloudflare`. */
export interface CommonOptions {
  /** Session timeout to ask for, ms; the server may give another, by default 2 to 20 of its ticks. Default 30 000. */
  sessionTimeout?: number
  /** How long connect() may take altogether, ms. Default: the session timeout. */
  connectTimeout?: number
  /**
   * How long one address may take to give a session, ms: dialling, handshakes and SASL together. Default: a third of the
   * session timeout, at most 5 000. A server that is just starting accepts a connection and never answers on it (tried on
   * 3.8.0).
   */
  attemptTimeout?: number
  /** Cancels connect(), which then rejects with the reason of the signal. */
  signal?: AbortSignal
  /** Accepts a server that has lost its quorum: it answers reads, and refuses writes with NOTREADONLY. Default false. */
  readOnly?: boolean
  /** A session to resume: `client.sessionId` and `client.sessionPassword` of before. */
  session?: { id: bigint; password: Uint8Array }
  /** Credentials, sent first on every connection. */
  auth?: readonly { scheme: string; auth: Uint8Array | string }[]
  /**
   * Authenticates every connection before anything else is sent on it: `digestMd5({ username, password })` of
   * `zkwire/sasl`, or your own mechanism. A failure ends the session as `authFailed`. Nothing is ever sent without it.
   */
  sasl?: Mechanism
  /**
   * Longest request that is sent, bytes with its header; longer ones are refused with REQUESTTOOLARGE. A server cuts the
   * connection over its jute.maxbuffer. Default 1 048 575.
   */
  maxRequestBytes?: number
  /** Longest reply that is accepted, bytes. Default 16 MiB. */
  maxReplyBytes?: number
  /**
   * How many requests may be without a reply at a time; more are refused with TOOMANYPENDING, except the removal of
   * watches. Default 100 000.
   */
  maxPending?: number
  clock?: Clock
  random?: Random
  /** Called with every frame, both ways, in order. Frames contain passwords too: `explain` leaves them out. */
  onFrame?: (frame: ObservedFrame) => void
  /**
   * Called with errors that your callbacks throw, and when the ensemble's configuration cannot be followed. What it throws
   * becomes an uncaught exception. Default: console.error.
   */
  onUncaughtError?: (error: unknown) => void
}

/** All options that are completed, and what the entry point has chosen. */
export type Settings = SessionSettings & { connectTimeout: number }

const LONGEST_TIMER = 0x7fff_ffff

/** @param least smallest allowed value; the wire carries whole milliseconds */
const aNumber = (least = 0): Check =>
  mustBe(
    `a number ${least > 0 ? `from ${least}` : 'above 0'} to ${LONGEST_TIMER}`,
    (value: unknown) => typeof value === 'number' && value > 0 && value >= least && value <= LONGEST_TIMER,
  )

/** null counts as left out. */
const orNull =
  (check: Check): Check =>
  value =>
    value === null ? undefined : check(value)

const isSession = ({ id, password }: Partial<NonNullable<CommonOptions['session']>>): boolean =>
  typeof id === 'bigint' && password instanceof Uint8Array

export const commonChecks: Checks<CommonOptions> = {
  sessionTimeout: orNull(aNumber(1)),
  connectTimeout: orNull(aNumber()),
  attemptTimeout: orNull(aNumber()),
  signal: orNull(aSignal),
  readOnly: orNull(aBoolean),
  session: orNull(mustBe('{id, password}, a bigint and a Uint8Array', isSession)),
  auth: orNull(mustBe('a list of {scheme, auth}', isListOfObjects)),
  sasl: orNull(mustBe('a mechanism, such as digestMd5(…)', (value: unknown) => hasMethod(value, 'start'))),
  maxRequestBytes: orNull(aNumber()),
  maxReplyBytes: orNull(aNumber()),
  maxPending: orNull(aNumber()),
  clock: orNull(mustBe('a clock', (value: unknown) => hasMethod(value, 'wallNow'))),
  random: orNull(aFunction),
  onFrame: orNull(aFunction),
  onUncaughtError: orNull(aFunction),
}

/** Checks of options that an entry point adds. */
export const optional = { boolean: orNull(aBoolean), function: orNull(aFunction), number: orNull(aNumber()), orNull }

/** @throws ZooKeeperError BADARGUMENTS */
export function checkOptions<O extends object>(options: O, checks: Checks<O>): void {
  const problem = optionsProblem<O>(options, checks)
  if (problem !== undefined) throw badArguments('connect', '', problem)
}

/** What an entry point chooses for a session. */
export type Chosen = Pick<SessionSettings, 'lookUpSrv' | 'srvRefreshInterval'> & { dial: Dial }

/** Completes options that were checked. */
export function settingsOf(options: CommonOptions, chosen: Chosen): Settings {
  const sessionTimeout = options.sessionTimeout ?? 30_000
  return {
    ...chosen,
    sessionTimeout,
    connectTimeout: options.connectTimeout ?? sessionTimeout,
    attemptTimeout: options.attemptTimeout ?? Math.min(sessionTimeout / 3, 5000),
    readOnly: options.readOnly ?? false,
    auth: options.auth ?? NOBODY,
    maxRequestBytes: options.maxRequestBytes ?? 1_048_575,
    maxReplyBytes: options.maxReplyBytes ?? 16 * 1024 * 1024,
    maxPending: options.maxPending ?? 100_000,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    onUncaughtError: options.onUncaughtError ?? printError,
    sasl: options.sasl ?? undefined,
    session: options.session ?? undefined,
    onFrame: options.onFrame ?? undefined,
  }
}

const NOBODY: Settings['auth'] = []
const printError = (error: unknown): void => console.error(error)
