// SRV records (RFC 2782) through node:dns. The only file that asks for them.
import { promises } from 'node:dns'

export interface SrvRecord {
  /** The host; '.' says that there is none. */
  name: string
  port: number
}

/** The records of a name. Rejects where it has none, or nobody can say. */
export type ResolveSrv = (name: string) => Promise<readonly SrvRecord[]>

export const resolveSrv: ResolveSrv = name => promises.resolveSrv(name)
