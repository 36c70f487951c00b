// The hosts that the SRV records of a name give.
import type { Clock } from '../../runtime/clock.ts'
import type { ResolveSrv, SrvRecord } from '../../transport/srv.ts'
import type { Address } from '../../transport/transport.ts'

export interface SrvSettings {
  clock: Clock
  resolveSrv: ResolveSrv
  /** How long one lookup may take, ms. */
  attemptTimeout: number
}

/** Priority and weight are passed over, as by Java's client: the servers of an ensemble are peers. */
export const hostsOf = (records: readonly SrvRecord[]): Address[] =>
  records
    .map(({ name, port }) => ({ host: name.replace(/\.$/, ''), port }))
    .filter(({ host, port }) => host !== '' && port >= 1 && port <= 65_535)

/** Rejects where there are none, and where nobody answers in time. */
export function lookUp(name: string, { clock, resolveSrv, attemptTimeout }: SrvSettings): Promise<Address[]> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => reject(new Error(`no answer within ${attemptTimeout} ms`)), attemptTimeout)
    const settle = (then: () => void) => {
      clock.clearTimeout(timer)
      then()
    }
    const taken = (records: readonly SrvRecord[]) => {
      const hosts = hostsOf(records)
      if (hosts.length > 0) resolve(hosts)
      else reject(new Error('no record names a host'))
    }
    Promise.resolve(name)
      .then(resolveSrv)
      .then(
        records => settle(() => taken(records)),
        (error: unknown) => settle(() => reject(error)),
      )
  })
}
