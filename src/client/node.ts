// connect() and supervise() of `zkwire`, for Node, Bun and Deno: TCP, TLS, SRV records, the ensemble's configuration.
import { debuglog } from 'node:util'
import { systemRandom } from '../runtime/random.ts'
import { badArguments } from '../protocol/index.ts'
import { aBoolean, aFunction, mustBe, type Checks } from '../options/checks.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import type { Session } from '../session/session.ts'
import { srvLookup, type SrvLookup } from '../session/servers/srv.ts'
import { newSrvHosts } from '../session/servers/srv-hosts.ts'
import { failureOfSystem } from '../session/servers/system-failures.ts'
import { resolveSrv, type SrvRecord } from '../transport/srv.ts'
import { detectTls } from '../transport/tls-mismatch.ts'
import type { TlsOptions } from '../transport/tls.ts'
import { tcp } from '../transport/tcp.ts'
import type { Dial } from '../transport/transport.ts'
import type { Client } from './client.ts'
import { openSession, type Opening, type Target } from './connect.ts'
import {
  aNumber,
  checkOptions,
  commonChecks,
  orNull,
  settingsOf,
  type CommonOptions,
  type Settings,
} from './options.ts'
import { followEnsemble } from './reconfig-following.ts'
import { SessionsOf } from './sessions.ts'
import type { OwnSessionsOptions } from './sessions-options.ts'
import { superviseWith, type SessionTask } from './supervise.ts'
import { askingTlsDial, tlsDial } from './tls-dial.ts'

/**
 * Options of {@link connect} and {@link supervise}.
 * @example
 * const options: ConnectOptions = { sessionTimeout: 10_000, connectTimeout: 60_000, followEnsemble: true }
 * await using zk = await connect('localhost:2181', options)
 * zk.sessionTimeout // => 10_000
 */
export interface ConnectOptions extends CommonOptions {
  /**
   * Uses TLS 1.2 or later, and never plaintext. Pass true, or options of node:tls (`ca`, `cert`, `key`, …). The
   * server's certificate must be valid, and for the host in the connect string, unless `rejectUnauthorized: false` is
   * set here. Pass a function if the certificates change: it is called for each connection, may return a promise, and
   * must be done within `attemptTimeout`. If it throws, or if TLS fails with its options, the client tries again, also
   * in `connect()` until `connectTimeout`. If it returns no options, or one of a wrong type, that is an error as of an
   * invalid certificate. Default false: plaintext.
   */
  tls?: boolean | TlsOptions | (() => TlsOptions | Promise<TlsOptions>) | undefined
  /**
   * Opens the byte streams to servers. Cannot be combined with `tls`. Default: TCP through node:net, or with `tls` TLS
   * through node:tls.
   */
  dial?: Dial | undefined
  /**
   * Watches the ensemble's dynamic configuration, /zookeeper/config, and connects to the servers for which it names a
   * client port. With `tls`, that is the port for TLS, which servers name from 3.10 on. The servers of the connect string
   * are tried only if no server of the configuration can be reached. Without TLS, whoever can write the configuration or
   * the network's bytes chooses the servers to which the client sends its credentials. Default false.
   */
  followEnsemble?: boolean | undefined
  /**
   * How often the SRV records of a `dns-srv://` connect string are looked up again while connected, in milliseconds.
   * Default 60 000.
   */
  srvRefreshInterval?: number | undefined
  /**
   * With `tls`, the domain to which all hosts in the SRV records of a `dns-srv://` connect string must belong, such as
   * `example.org`. DNS is not authenticated, so a forged record could otherwise name any host that has a valid
   * certificate. Not required if `tls` has `servername` or `checkServerIdentity`, which say what the certificate must be
   * for. Default: the domain of the connect string, `example.org` for `_zookeeper._tcp.example.org`.
   */
  srvDomain?: string | undefined
  /**
   * Looks up the SRV records of a `dns-srv://` connect string. Rejects if the name has none or the lookup fails. Default:
   * node:dns.
   */
  resolveSrv?: ((name: string) => Promise<readonly SrvRecord[]>) | undefined
}

const isDomain = (value: unknown): boolean => typeof value === 'string' && /^[^\s./:]+(\.[^\s./:]+)*$/.test(value)

const checks: Checks<ConnectOptions> = orNull({
  ...commonChecks,
  tls: mustBe(
    'true, false, options of node:tls or a function that returns them',
    value => ['boolean', 'object', 'function'].includes(typeof value) && !Array.isArray(value),
  ),
  dial: aFunction,
  followEnsemble: aBoolean,
  srvRefreshInterval: aNumber(),
  srvDomain: mustBe('a domain, such as example.org', isDomain),
  resolveSrv: aFunction,
})

/**
 * Opens a session. Tries the servers in random order until one of them accepts, again and again if a server may accept
 * soon, or if `connectTimeout` is set.
 * @param servers hosts and an optional chroot: `zk1:2181,zk2:2181,[::1]:2181/app`. The default port is 2181. Or a name
 * whose SRV records name the hosts: `dns-srv://_zookeeper._tcp.example.org/app`. The records are looked up before each
 * attempt
 * @returns a client that is connected
 * @throws ZooKeeperError BADARGUMENTS if the connect string or an option is invalid
 * @throws ZooKeeperError NOSERVER if no host has a server and `connectTimeout` is not set: each of them has refused the
 * connection, is an unknown name, or belongs to a server of another kind
 * @throws ZooKeeperError CONNECTTIMEOUT if no server accepted within `connectTimeout`; its `cause` is the error of the
 * last attempt
 * @throws ZooKeeperError PROTOCOL if every host has failed for a permanent reason, such as an invalid certificate, a
 * missing client certificate, or TLS on one side only
 * @throws ZooKeeperError ACCESSDENIED if Deno or Node does not permit the program to connect to any host
 * @throws ZooKeeperError SESSIONEXPIRED if the session to resume has expired; AUTHFAILED if a server rejected the
 * credentials
 * @throws the reason of `options.signal` if it aborts
 * @example
 * import { connect } from 'zkwire'
 * await using zk = await connect('localhost:2181', { sessionTimeout: 10_000 })
 * zk.state // => 'connected'
 */
export async function connect(servers: string, options: ConnectOptions = {}): Promise<Client> {
  return open(parseConnectString(servers), options)
}

function open(target: Target, options: ConnectOptions, opening?: Opening): Promise<Client> {
  const onSession = (client: Client, session: Session, { onUncaughtError }: Settings) => {
    // A separate view, because the caller may remove the client's own watches on that node.
    const usesTls = (options.tls ?? false) !== false
    if (options.followEnsemble === true)
      followEnsemble(client.chroot('/'), session.hosts, usesTls).catch(onUncaughtError)
  }
  return openSession(target, options, nodeSettingsOf, opening, onSession)
}

/**
 * Opens a session and runs `task` with it. If the session is lost, opens another one and runs `task` again, without
 * limit. Locks, ephemeral nodes and watches belong to a session, so each run must create them again.
 *
 * The `signal` that `task` gets aborts when its session has ended or must be presumed lost, and when `options.signal`
 * aborts. The task must then end, because the next run starts only after it. Runs never overlap. After `options.signal`
 * has aborted, the session is closed as soon as it has no connection, so that the task need not wait for a server.
 *
 * If a session was presumed lost and a server still has it, it is closed there before the next run. So its nodes never
 * block the next run.
 *
 * An unreachable server or a lost session is not an error here. The next attempt follows after a random pause, which
 * grows from 25 ms to at most 1 s. It is short again after an attempt or a session that lasted for more than 1 s. The
 * next session uses the servers of the last `updateServerList`, and with `followEnsemble` those of the ensemble's
 * configuration.
 * @param options as for `connect`. The option `session` is used for the first run only. Aborting `signal` ends
 * everything
 * @returns the result of `task`, if its session is still alive or the task closed it; the session is closed by then
 * @throws any error of `task` while its session is alive; the reason of `options.signal` if it aborts
 * @throws ZooKeeperError BADARGUMENTS, AUTHFAILED, ACCESSDENIED or PROTOCOL as `connect`; AUTHFAILED also if the server rejects the
 * credentials of an open session
 * @example
 * const stop = new AbortController()
 * const path = await supervise('localhost:2181', { signal: stop.signal }, async zk => {
 *   const { path } = await zk.create('/worker-', '', { mode: 'ephemeralSequential' })
 *   return path
 * })
 * path // => '/worker-0000000000'
 */
export function supervise<T>(servers: string, options: ConnectOptions, task: SessionTask<T>): Promise<T> {
  return superviseWith(open, nodeSettingsOf, servers, options, task)
}

/**
 * Options of `Sessions`.
 * @example
 * const options: SessionsOptions = { sessionTimeout: 10_000, idleTimeout: 60_000 }
 * await using sessions = new Sessions('localhost:2181', options)
 * sessions.status.state // => 'idle'
 */
export interface SessionsOptions extends Omit<ConnectOptions, 'signal' | 'session'>, OwnSessionsOptions {}

/**
 * The sessions of a process, for code that is called and does not control when: the handlers of a web service, the
 * invocations of a function. Opens a session at first use, shares it among all callers, and opens the next one after a
 * loss, as {@link supervise} does. In between, calls wait for at most their timeout.
 *
 * A lock belongs to the session in which it was acquired. If that is lost, the lock is lost too: `held.signal` aborts.
 * @example
 * await using sessions = new Sessions('localhost:2181', { sessionTimeout: 10_000 })
 * const { data } = await sessions.use({ timeout: 500 }, async (client, { signal }) => {
 *   await client.create('/app', 'v1', { signal })
 *   return client.getData('/app', { signal })
 * })
 * data?.toString() // => 'v1'
 */
export class Sessions extends SessionsOf<ConnectOptions> {
  /**
   * Opens nothing yet.
   * @param servers as for `connect`
   * @param options as for `connect`, and two more. They are copied, so the caller may erase its secrets
   * @throws ZooKeeperError BADARGUMENTS
   */
  constructor(servers: string, options: SessionsOptions = {}) {
    super({ open, settingsOf: nodeSettingsOf }, servers, options)
  }
}

/**
 * Checks the options and fills in the defaults.
 * @throws ZooKeeperError BADARGUMENTS if an option is invalid
 */
export function nodeSettingsOf(options: ConnectOptions): Settings {
  checkOptions(options, checks)
  return settingsOf(options, {
    dial: dialOf(options),
    failureToOpen: failureOfSystem,
    newSrvHosts: newSrvHosts(srvLookupOf(options), options.srvRefreshInterval ?? 60_000),
    debugLog: log.enabled ? logLine : undefined,
    network: options.dial ?? undefined,
  })
}

/** Returns the lookup that these options ask for. */
export const srvLookupOf = (options: ConnectOptions): SrvLookup =>
  srvLookup(options.resolveSrv ?? resolveSrv, requiredDomainOf(options))

/** Returns the domain of the hosts in SRV records: '' for that of the connect string, undefined if any is accepted. */
function requiredDomainOf({ tls, srvDomain }: ConnectOptions): string | undefined {
  if (srvDomain != null) return srvDomain
  if (!tls) return undefined
  // What a function will return is not known yet.
  const given: TlsOptions = typeof tls === 'object' ? tls : {}
  const { servername, checkServerIdentity, rejectUnauthorized } = given
  const isChecked = servername == null && checkServerIdentity == null && rejectUnauthorized !== false
  return isChecked ? '' : undefined
}

/** Writes to stderr if the environment variable NODE_DEBUG contains `zkwire`. */
const log = debuglog('zkwire')
const logLine = (line: string): void => log('%s', line)

/** Shared by all sessions that use the system's randomness. */
const dialTcpShuffled = tcp({ random: systemRandom })

function dialOf(options: ConnectOptions): Dial {
  const [dial, tls, random] = [options.dial ?? undefined, options.tls ?? false, options.random ?? systemRandom]
  // A dial without TLS must not silently replace TLS.
  if (dial !== undefined && tls !== false) throw bad('tls is for the default dial only: let your dial speak TLS itself')
  if (dial !== undefined) return dial
  if (tls === false) return detectTls(random === systemRandom ? dialTcpShuffled : tcp({ random }))
  if (typeof tls === 'function') return askingTlsDial(tls, random)
  try {
    return tlsDial(tls === true ? {} : tls, random)
  } catch (error) {
    throw bad((error as Error).message)
  }
}

const bad = (detail: string) => badArguments('connect', '', detail)
