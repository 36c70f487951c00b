// The servers that a connect string names.
import { resolveSrv } from 'node:dns/promises'
import { isIP } from 'node:net'
import { parseConnectString } from '../../session/servers/connect-string.ts'
import type { TlsOptions } from '../../transport/tls.ts'
import type { Address } from '../../transport/transport.ts'

/** Returns the hosts of a connect string, or those of the SRV records that it names. */
export async function serversOf(connectString: string): Promise<readonly Address[]> {
  const { hosts, srv } = parseConnectString(connectString)
  return srv === undefined ? hosts : (await resolveSrv(srv)).map(({ name, port }) => ({ host: name, port }))
}

/** Returns the options of node:tls for a host: its name is sent to the server, unless it is an address. */
export const tlsFor = (host: string, tls: unknown): TlsOptions => ({
  ...(typeof tls === 'object' ? tls : {}),
  ...(isIP(host) === 0 ? { servername: host } : {}),
})
