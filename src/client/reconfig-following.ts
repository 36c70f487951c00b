// Keeps the list of hosts equal to the servers that the ensemble's own configuration names.
import type { HostProvider } from '../session/servers/host-provider.ts'
import { isTerminal } from '../session/life/states.ts'
import type { Client } from './client.ts'
import type { EnsembleConfig } from './ensemble-config.ts'

/**
 * Reads the configuration, and reads it again whenever it changes. Resolves when the session is over.
 * @throws ZooKeeperError if the configuration cannot be read: NONODE from servers before 3.5, NOAUTH
 */
export async function followEnsemble(client: Client, hosts: HostProvider): Promise<void> {
  while (!isTerminal(client.state)) {
    let wake = (): void => undefined
    const changed = new Promise<void>(resolve => (wake = resolve))
    try {
      const config = await client.retry(() => client.getConfig({ watch: () => wake() }))
      applyConfig(config, hosts)
    } catch (error) {
      if (isTerminal(client.state)) return
      throw error
    }
    await changed
  }
}

/** A server without a client port either accepts no clients, or has the port only in its own configuration file. */
function applyConfig({ servers }: EnsembleConfig, hosts: HostProvider): void {
  const named = servers.flatMap(({ client }) => client ?? [])
  if (named.length > 0) hosts.setConfigured(named, named.length === servers.length)
}
