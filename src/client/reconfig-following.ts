// Going by the servers that the ensemble's own configuration names, as it changes.
import type { Client } from './client.ts'
import type { EnsembleConfig } from './ensemble-config.ts'
import type { HostProvider } from '../session/servers/host-provider.ts'
import { isTerminal } from '../session/life/states.ts'

/**
 * Reads the configuration, and again whenever it changes, until the session is over.
 * @throws ZooKeeperError where it cannot be read: NONODE before 3.5, NOAUTH
 */
export async function followEnsemble(client: Client, route: HostProvider): Promise<void> {
  while (!isTerminal(client.state)) {
    let tell = (): void => undefined
    const changed = new Promise<void>(resolve => (tell = resolve))
    try {
      const config = await client.retry(() => client.getConfig({ watch: () => tell() }))
      applyConfig(config, route)
    } catch (error) {
      if (isTerminal(client.state)) return
      throw error
    }
    await changed
  }
}

/** A server that names no port for clients either takes none, or takes them at a port that only its own file tells. */
function applyConfig({ servers }: EnsembleConfig, route: HostProvider): void {
  const hosts = servers.flatMap(({ client }) => client ?? [])
  if (hosts.length > 0) route.setConfigured(hosts, hosts.length === servers.length)
}
