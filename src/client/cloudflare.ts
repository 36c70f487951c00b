// Entry point `zkwire/cloudflare`: connect() and supervise() for Cloudflare Workers, through cloudflare:sockets.
// It does not import node:net, node:tls or node:dns.
import type { Checks } from '../protocol/option-checks.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import { cloudflare } from '../transport/cloudflare.ts'
import type { Client } from './client.ts'
import { openSession, type Opening, type Target } from './connect.ts'
import { checkOptions, commonChecks, orNull, settingsOf, type CommonOptions, type Settings } from './options.ts'
import { superviseWith, type SessionTask } from './supervise.ts'
import { aBoolean } from './validation.ts'

export { cloudflare, type CloudflareOptions } from '../transport/cloudflare.ts'
export type { CommonOptions } from './options.ts'
export type { Outage } from './outages.ts'

/**
 * Options of {@link connect} and {@link supervise}.
 * @example
 * const options: ConnectOptions = { tls: false, connectTimeout: 60_000 }
 * await using zk = await connect('localhost:2181', options)
 * zk.state // => 'connected'
 */
export interface ConnectOptions extends CommonOptions {
  /**
   * Uses TLS. The runtime must trust the server's certificate, which must be for the host in the connect string.
   * Default false.
   */
  tls?: boolean | undefined
}

const checks: Checks<ConnectOptions> = orNull({ ...commonChecks, tls: aBoolean })

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

function workerSettingsOf(options: ConnectOptions): Settings {
  checkOptions(options, checks)
  const dial = cloudflare({ tls: options.tls ?? false })
  return settingsOf(options, { dial, newSrvHosts: undefined, debugLog: undefined, network: undefined })
}
