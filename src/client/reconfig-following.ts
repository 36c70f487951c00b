// Follows the servers that the ensemble's own configuration names, as it changes.
import type { HostProvider } from '../session/servers/host-provider.ts'
import { isTerminal } from '../session/life/states.ts'
import type { Client } from './client.ts'
import type { EnsembleConfig } from './ensemble-config.ts'

/**
 * Reads the configuration, and reads it again whenever it changes, until the session is over.
 * @throws ZooKeeperError if it cannot be read: NONODE from servers before 3.5, NOAUTH
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

/** A server without a client port either takes no clients, or takes them at a port that only its own file names. */
function applyConfig({ servers }: EnsembleConfig, hosts: HostProvider): void {
  const named = servers.flatMap(({ client }) => client ?? [])
  if (named.length > 0) hosts.setConfigured(named, named.length === servers.length)
}
