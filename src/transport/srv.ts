// Looks up SRV records (RFC 2782) through node:dns. Only this file uses it for that.
import { promises } from 'node:dns'

/** One SRV record, as node:dns returns it. */
export interface SrvRecord {
  /** The name of the host. '.' means that the service is not available (RFC 2782). */
  name: string
  port: number
}

/** Returns the SRV records of a name. Rejects if it has none or the lookup fails. */
export type ResolveSrv = (name: string) => Promise<readonly SrvRecord[]>

export const resolveSrv: ResolveSrv = name => promises.resolveSrv(name)
