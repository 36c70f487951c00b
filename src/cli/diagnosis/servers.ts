// The servers that a connect string names.
import { isIP } from 'node:net'
import { srvLookupOf } from '../../client/node.ts'
import type { Clock } from '../../runtime/clock.ts'
import { messageOfSystem } from '../../runtime/host-port.ts'
import { parseConnectString } from '../../session/servers/connect-string.ts'
import { dialTls, type TlsOptions } from '../../transport/tls.ts'
import type { Address, Dial } from '../../transport/transport.ts'
import type { Target } from '../runner/command.ts'
import { CommandError, statuses } from '../runner/failure.ts'

/** How long the name server may take, ms. */
const TIMEOUT = 10_000

/**
 * Returns the hosts of a connect string, or those of the SRV records that it names.
 * @throws CommandError if a session would find no host in the records, or would refuse one
 */
export async function serversOf({ servers, options }: Target, clock: Clock): Promise<readonly Address[]> {
  const { hosts, srv } = parseConnectString(servers)
  if (srv === undefined) return hosts
  return srvLookupOf(options)(srv, { clock, attemptTimeout: TIMEOUT }).catch((error: unknown) => {
    throw new CommandError(
      statuses.noServer,
      `the SRV records of ${srv} name no server: ${messageOfSystem(error as Error)}`,
    )
  })
}

/**
 * Returns a dial with TLS to the addresses of a host: its name is sent to the server, unless it is an address.
 * @param tls the option of a session; `rejectUnauthorized` replaces what it says
 */
export const tlsDialFor = (host: string, tls: unknown, more: Pick<TlsOptions, 'rejectUnauthorized'> = {}): Dial =>
  dialTls({
    ...(typeof tls === 'object' ? tls : {}),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...more,
  })
