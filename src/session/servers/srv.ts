// Looks up the hosts that the SRV records of a name contain (RFC 2782).
import type { Clock } from '../../runtime/clock.ts'
import type { ResolveSrv, SrvRecord } from '../../transport/srv.ts'
import { PermanentError, type Address } from '../../transport/transport.ts'

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

/** Returns the domain of a name such as `_zookeeper._tcp.example.org`: without its first labels, which start with `_`. */
export const domainOf = (name: string): string => name.replace(/^(?:_[^.]*\.)*/, '').replace(/\.$/, '')

/** Returns which host is neither the domain nor below it, or undefined if none is. */
export function hostOutside(hosts: readonly Address[], domain: string): string | undefined {
  const end = `.${domain}`.toLowerCase()
  return hosts.find(({ host }) => !`.${host}`.toLowerCase().endsWith(end))?.host
}

/**
 * Returns a lookup with these records. Over TLS, a server's certificate is checked for the name that its record contains,
 * and DNS is not authenticated: a forged record could name any host that has a valid certificate. So the hosts must be
 * below a domain.
 * @param requiredDomain the domain; undefined if any host is accepted, '' for the domain of the name that is looked up
 */
export const srvLookup =
  (resolveSrv: ResolveSrv, requiredDomain?: string): SrvLookup =>
  (name, { clock, attemptTimeout }) =>
    new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => reject(new Error(`no answer within ${attemptTimeout} ms`)), attemptTimeout)
      const settle = (records: readonly SrvRecord[]) => {
        const hosts = hostsOf(records)
        const domain = requiredDomain === '' ? domainOf(name) : requiredDomain
        const outside = domain === undefined ? undefined : hostOutside(hosts, domain)
        if (hosts.length === 0) reject(new Error('no record names a host'))
        else if (outside === undefined) resolve(hosts)
        else
          reject(
            new PermanentError(
              `a record names ${outside}, which is not below ${domain}; if that is right, set srvDomain`,
            ),
          )
      }
      Promise.resolve(name)
        .then(resolveSrv)
        .then(settle, reject)
        .finally(() => clock.clearTimeout(timer))
    })
