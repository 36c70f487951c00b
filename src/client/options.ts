// What a caller may choose, checked and completed once.
import { systemClock, type Clock } from '../runtime/clock.ts'
import { systemRandom, type Random } from '../runtime/random.ts'
import { badArguments } from '../protocol/index.ts'
import { detectPlaintext, detectTls } from '../transport/tls-mismatch.ts'
import { shuffledLookup, systemLookup, tcp } from '../transport/tcp.ts'
import { dialTls, type TlsOptions } from '../transport/tls.ts'
import { resolveSrv, type ResolveSrv } from '../transport/srv.ts'
import type { Dial } from '../transport/transport.ts'
import { has, isListOfObjects, isSignal, optionsProblem } from './validation.ts'
import type { ObservedFrame } from '../session/connection.ts'
import type { Mechanism } from '../session/life/sasl.ts'

export interface ConnectOptions {
  /** Session timeout to ask for, ms; the server may give another (2 to 20 of its ticks by default). Default 30 000. */
  sessionTimeout?: number
  /** How long connect() may take in all, ms. Default: the session timeout. */
  connectTimeout?: number
  /**
   * How long one address may take to give a session, dialling, handshakes and SASL together, ms. Default: a third of the session timeout,
   * at most 5 000: a server that is just starting takes a connection and never answers on it (tried on 3.8.0).
   */
  attemptTimeout?: number
  /** Gives up connect(), which then rejects with the signal's reason. */
  signal?: AbortSignal
  /** Accept a server that has lost its quorum: it answers reads, and refuses writes with NOTREADONLY. Default false. */
  readOnly?: boolean
  /**
   * Go by the servers that the ensemble's dynamic configuration names, as it changes: the watch on /zookeeper/config feeds
   * `updateServerList`. Servers that name no port for clients are left out; those of the connect string are tried when none of the
   * configuration is reached. The configuration names plaintext ports, so that with `tls` it is refused as BADARGUMENTS. Default false.
   */
  followEnsemble?: boolean
  /** How often the SRV records of a `dns-srv://` connect string are looked up while there is a connection, ms. Default 60 000. */
  srvRefreshInterval?: number
  /** Looks up SRV records. Default: node:dns. */
  resolveSrv?: ResolveSrv
  /** A session to go on with, of `client.sessionId` and `client.sessionPassword`. */
  session?: { id: bigint; password: Uint8Array }
  /** Credentials, sent first on every connection. */
  auth?: readonly { scheme: string; auth: Uint8Array | string }[]
  /**
   * Authenticates every connection before anything else goes out on it: `digestMd5({ username, password })` of `zkwire/sasl`, or a
   * mechanism of one's own. A failure ends the session as `authFailed`; nothing is ever sent without it.
   */
  sasl?: Mechanism
  /** The longest request that is sent, bytes with its header. A server cuts the connection over its jute.maxbuffer. Default 1 048 575. */
  maxRequestBytes?: number
  /** The longest reply that is accepted, bytes. Default 16 MiB. */
  maxReplyBytes?: number
  /** How many requests may be without an answer at a time; more are refused with TOOMANYPENDING, but for what takes watches back. Default 100 000. */
  maxPending?: number
  /**
   * Speak TLS: true, or options of node:tls (`ca`, `cert`, `key`, …). Certificates are verified against the host as it is named in the
   * connect string, unless `rejectUnauthorized: false` stands here; version 1.2 at least; never plaintext. Default false.
   */
  tls?: boolean | TlsOptions
  /** Opens the byte stream. Default: TCP through node:net, or TLS through node:tls where `tls` says so. */
  dial?: Dial
  clock?: Clock
  random?: Random
  /** Is shown every frame, both ways, in order. It sees passwords too: `explain` leaves them out. */
  onFrame?: (frame: ObservedFrame) => void
  /** Hears of errors that the caller's own callbacks throw, and of a configuration that cannot be followed. What it throws itself nobody catches. Default: console.error. */
  onUncaughtError?: (error: unknown) => void
}

/** What stays undefined where the caller does not choose it. */
type Optional = 'session' | 'sasl' | 'onFrame'

export type Settings = Required<Omit<ConnectOptions, Optional | 'signal' | 'tls'>> & {
  [K in Optional]: ConnectOptions[K] | undefined
}

/** @throws ZooKeeperError BADARGUMENTS */
export function settingsOf(options: ConnectOptions): Settings {
  checkShapes(options)
  const sessionTimeout = positive('sessionTimeout', options.sessionTimeout ?? 30_000, 1)
  return {
    sessionTimeout,
    connectTimeout: positive('connectTimeout', options.connectTimeout ?? sessionTimeout),
    attemptTimeout: positive('attemptTimeout', options.attemptTimeout ?? Math.min(sessionTimeout / 3, 5000)),
    readOnly: options.readOnly ?? false,
    followEnsemble: options.followEnsemble ?? false,
    srvRefreshInterval: positive('srvRefreshInterval', options.srvRefreshInterval ?? 60_000),
    resolveSrv: options.resolveSrv ?? resolveSrv,
    auth: options.auth ?? NOBODY,
    maxRequestBytes: positive('maxRequestBytes', options.maxRequestBytes ?? 1_048_575),
    maxReplyBytes: positive('maxReplyBytes', options.maxReplyBytes ?? 16 * 1024 * 1024),
    maxPending: positive('maxPending', options.maxPending ?? 100_000),
    dial: dialOf(options),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    onUncaughtError: options.onUncaughtError ?? printError,
    sasl: options.sasl ?? undefined,
    session: options.session ?? undefined,
    onFrame: options.onFrame ?? undefined,
  }
}

/** What is no number. Without types a wrong one would come to light far from here: as an exception that nobody catches, or never. */
const shapes: readonly (readonly [what: string, is: (value: unknown) => boolean, ...(keyof ConnectOptions)[]])[] = [
  ['true or false', value => typeof value === 'boolean', 'readOnly', 'followEnsemble'],
  ['true or options of node:tls', value => ['boolean', 'object'].includes(typeof value), 'tls'],
  ['a function', isFunction, 'dial', 'random', 'onFrame', 'resolveSrv', 'onUncaughtError'],
  ['an AbortSignal', isSignal, 'signal'],
  ['a mechanism', value => has(value, 'start'), 'sasl'],
  ['a list of {scheme, auth}', isListOfObjects, 'auth'],
  ['{id, password}, a bigint and a Uint8Array', isSession, 'session'],
  ['a clock', value => has(value, 'wallNow'), 'clock'],
]

function checkShapes(options: ConnectOptions): void {
  const problem = optionsProblem(options)
  if (problem !== undefined) throw bad(problem)
  for (const [what, is, ...names] of shapes)
    for (const name of names) {
      const value: unknown = options[name] ?? undefined
      // It may be a secret, and is not shown.
      if (value !== undefined && !is(value)) throw bad(`${name} is to be ${what}`)
    }
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isSession(value: unknown): boolean {
  const { id, password } = value as Partial<NonNullable<ConnectOptions['session']>>
  return typeof id === 'bigint' && password instanceof Uint8Array
}

const NOBODY: Settings['auth'] = []
const printError = (error: unknown): void => console.error(error)

/** One for all who leave chance to the machine. */
const dialTcpAtRandom = tcp({ random: systemRandom })

function dialOf(options: ConnectOptions): Dial {
  const [dial, tls, random] = [options.dial ?? undefined, options.tls ?? false, options.random ?? systemRandom]
  if (options.followEnsemble && tls !== false)
    throw bad('followEnsemble leads to ports in plaintext, and tls is asked for')
  // A dial that knows nothing of TLS must not take the place of it.
  if (dial !== undefined && tls !== false) throw bad('tls is for the default dial only')
  if (dial !== undefined) return dial
  if (tls === false) return detectTls(random === systemRandom ? dialTcpAtRandom : tcp({ random }))
  try {
    return detectPlaintext(dialTls({ lookup: shuffledLookup(systemLookup, random), ...(tls === true ? {} : tls) }))
  } catch (error) {
    // Of an argument of a wrong type node:tls shows the value, which may be a passphrase.
    throw bad(`tls: ${(error as Error).message.replace(/\bReceived .*/s, '').trim()}`)
  }
}

/** @param least a part of a millisecond is none on the wire */
function positive(name: string, value: number, least = 0): number {
  if (typeof value === 'number' && value > 0 && value >= least && value <= 0x7fff_ffff) return value
  throw bad(`${name} is ${value}`)
}

const bad = (detail: string) => badArguments('connect', '', detail)
