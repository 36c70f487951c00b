// Looks up SRV records (RFC 2782) through node:dns, for a session.
import { promises } from 'node:dns'

/**
 * One SRV record, as node:dns returns it.
 * @example
 * const record: SrvRecord = { name: 'zk1.example.org', port: 2181 }
 * const dial: Dial = ({ host }, handler) => {
 *   host // => 'zk1.example.org'
 *   return server.dial({ host, port: 2181 }, handler)
 * }
 * await using zk = await connect('dns-srv://_zookeeper._tcp.example.org', { resolveSrv: async () => [record], dial })
 */
export interface SrvRecord {
  /** The name of the host. '.' means that the service is not available (RFC 2782). */
  name: string
  /** The port of that host, from 1 to 65535. */
  port: number
}

/** Returns the SRV records of a name. Rejects if it has none or the lookup fails. */
export type ResolveSrv = (name: string) => Promise<readonly SrvRecord[]>

export const resolveSrv: ResolveSrv = name => promises.resolveSrv(name)
