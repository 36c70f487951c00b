// Keeps the list of hosts equal to the servers that the ensemble's own configuration names.
import { badArguments } from '../protocol/index.ts'
import { deferred } from '../runtime/deferred.ts'
import type { HostProvider } from '../session/servers/host-provider.ts'
import { isTerminal } from '../session/life/states.ts'
import type { Client } from './client.ts'
import { CONFIG_NODE, type EnsembleConfig } from './ensemble-config.ts'

/**
 * Reads the configuration, and reads it again whenever it changes. Resolves when the session is over.
 * @param usesTls true if the session uses the ports for TLS, which servers name from 3.10 on
 * @throws ZooKeeperError if the configuration cannot be read: NONODE from servers before 3.5, NOAUTH
 * @throws ZooKeeperError BADARGUMENTS if the configuration names only the other kind of port
 */
export async function followEnsemble(client: Client, hosts: HostProvider, usesTls: boolean): Promise<void> {
  while (!isTerminal(client.state)) {
    const changed = deferred()
    try {
      const config = await client.retry(() => client.getConfig({ watch: changed.resolve }))
      applyConfig(config, hosts, usesTls)
    } catch (error) {
      if (isTerminal(client.state)) return
      throw error
    }
    await changed.promise
  }
}

/** A server without a client port either accepts no clients, or has the port only in its own configuration file. */
function applyConfig({ servers }: EnsembleConfig, hosts: HostProvider, usesTls: boolean): void {
  const named = servers.flatMap(({ client, secureClient }) => (usesTls ? secureClient : client) ?? [])
  if (named.length > 0) hosts.setConfigured(named, named.length === servers.length)
  else if (servers.some(({ client, secureClient }) => client ?? secureClient)) throw noPort(usesTls)
}

const noPort = (usesTls: boolean) =>
  badArguments(
    'followEnsemble',
    CONFIG_NODE,
    usesTls
      ? 'the configuration names no client port for TLS, as servers do from 3.10 on; the connect string is used'
      : 'the configuration names client ports for TLS only: set the option tls; the connect string is used',
  )
