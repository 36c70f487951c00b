// Looks up the hosts that the SRV records of a name contain (RFC 2782).
import type { Clock } from '../../runtime/clock.ts'
import type { ResolveSrv, SrvRecord } from '../../transport/srv.ts'
import type { Address } from '../../transport/transport.ts'

/**
 * Resolves to the hosts of a name. Rejects if it has none, or if there is no answer within `attemptTimeout`
 * milliseconds.
 */
export type SrvLookup = (
  name: string,
  settings: { clock: Clock; attemptTimeout: number },
) => Promise<readonly Address[]>

/**
 * Returns the hosts in the records. Priority and weight are ignored, as by Java's client, because the servers of an
 * ensemble are peers.
 */
export const hostsOf = (records: readonly SrvRecord[]): Address[] =>
  records
    .map(({ name, port }) => ({ host: name.replace(/\.$/, ''), port }))
    .filter(({ host, port }) => host !== '' && port >= 1 && port <= 65_535)

export const srvLookup =
  (resolveSrv: ResolveSrv): SrvLookup =>
  (name, { clock, attemptTimeout }) =>
    new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => reject(new Error(`no answer within ${attemptTimeout} ms`)), attemptTimeout)
      const settle = (records: readonly SrvRecord[]) => {
        const hosts = hostsOf(records)
        if (hosts.length > 0) resolve(hosts)
        else reject(new Error('no record names a host'))
      }
      Promise.resolve(name)
        .then(resolveSrv)
        .then(settle, reject)
        .finally(() => clock.clearTimeout(timer))
    })
