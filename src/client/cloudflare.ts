// Entry point `zkwire/cloudflare`: connect() and supervise() for Cloudflare Workers, through cloudflare:sockets.
// It does not import node:net, node:tls or node:dns.
import { aBoolean, mustBe, type Checks } from '../options/checks.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import { failureToOpen } from '../session/servers/failed-attempts.ts'
import { cloudflare, type CloudflareOptions } from '../transport/cloudflare.ts'
import type { Client } from './client.ts'
import { openSession, type Opening, type Target } from './connect.ts'
import { checkOptions, commonChecks, orNull, settingsOf, type CommonOptions, type Settings } from './options.ts'
import { SessionsOf } from './sessions.ts'
import type { OwnSessionsOptions } from './sessions-options.ts'
import { superviseWith, type SessionTask } from './supervise.ts'
import { hasMethod } from './validation.ts'

export { cloudflare, type CloudflareOptions } from '../transport/cloudflare.ts'
export type { CommonOptions } from './options.ts'
export type { Outage } from './outages.ts'
export type { SessionsStatus, SessionWait, UseOptions } from './sessions-options.ts'
export type { Sockets } from '../transport/sockets.ts'

/**
 * Options of {@link connect} and {@link supervise}.
 * @example
 * const options: ConnectOptions = { tls: false, connectTimeout: 60_000 }
 * await using zk = await connect('localhost:2181', options)
 * zk.state // => 'connected'
 */
export interface ConnectOptions extends CommonOptions, CloudflareOptions {}

const sockets = mustBe('an object with a connect method', (value: unknown) => hasMethod(value, 'connect'))
const checks: Checks<ConnectOptions> = orNull({ ...commonChecks, tls: aBoolean, sockets })

/**
 * Opens a session with one of the servers, as `connect` of `zkwire` does. Looks up no SRV records.
 * @throws ZooKeeperError as `connect` of `zkwire`; BADARGUMENTS also for a `dns-srv://` connect string. If the runtime
 * does not trust a certificate, CONNECTTIMEOUT instead of PROTOCOL
 * @example
 * import { connect } from 'zkwire/cloudflare'
 * await using zk = await connect('localhost:2181', { sessionTimeout: 10_000 })
 * zk.state // => 'connected'
 */
export async function connect(servers: string, options: ConnectOptions = {}): Promise<Client> {
  return open(parseConnectString(servers), options)
}

const open = (target: Target, options: ConnectOptions, opening?: Opening): Promise<Client> =>
  openSession(target, options, workerSettingsOf, opening)

/**
 * Runs `task` in one session after another, with the results and errors of `supervise` of `zkwire`.
 * @example
 * const children = await supervise('localhost:2181', {}, async zk => {
 *   const { children } = await zk.getChildren('/')
 *   return children
 * })
 * children // => ['zookeeper']
 */
export function supervise<T>(servers: string, options: ConnectOptions, task: SessionTask<T>): Promise<T> {
  return superviseWith(open, workerSettingsOf, servers, options, task)
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
 * As `Sessions` of `zkwire`, for Cloudflare Workers. In a Durable Object, all requests share a session. In a worker a session
 * belongs to one request, so use `withLock` only, with an `idleTimeout` of 0: each call then has its own.
 * @example
 * import { Sessions } from 'zkwire/cloudflare'
 * const sessions = new Sessions('localhost:2181', { sessionTimeout: 5_000, idleTimeout: 0 })
 * await sessions.withLock(zk => new Mutex(zk, '/locks/order-7'), {}, held => held.validFor() > 0) // => true
 */
export class Sessions extends SessionsOf<ConnectOptions> {
  /**
   * Opens nothing yet.
   * @param servers as for `connect`
   * @param options as for `connect`, and two more. They are copied, so the caller may erase its secrets
   * @throws ZooKeeperError BADARGUMENTS
   */
  constructor(servers: string, options: SessionsOptions = {}) {
    super({ open, settingsOf: workerSettingsOf }, servers, options)
  }
}

function workerSettingsOf(options: ConnectOptions): Settings {
  checkOptions(options, checks)
  const { tls, sockets } = options
  const dial = cloudflare({ tls: tls ?? false, sockets: sockets ?? undefined })
  const absent = { newSrvHosts: undefined, debugLog: undefined }
  return settingsOf(options, { dial, failureToOpen, ...absent, network: sockets ?? undefined })
}
