// Opens a test's sessions and closes them all after it.
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { inOrder } from '../support/seeded-random.ts'

/**
 * Options for sessions whose server is killed and restarted. While Apache's server has no database yet, it refuses a
 * handshake but fails to close the connection (NIOServerCnxn.close, ZooKeeperServer.removeCnxn). The client gets
 * neither a reply nor an end of the connection.
 */
export const SHORT_ATTEMPTS: ConnectOptions = { attemptTimeout: 1500 }

export class Sessions implements AsyncDisposable {
  readonly #open = new Set<Client>()

  /** Opens a new session. */
  async open(connectString: string, options: ConnectOptions = {}): Promise<Client> {
    const client = await connect(connectString, { sessionTimeout: 6000, ...options })
    this.#open.add(client)
    return client
  }

  /** Opens a client that tries the servers in the given order. */
  openInOrder(servers: readonly { connectString: string }[], options: ConnectOptions = {}): Promise<Client> {
    const connectString = servers.map(server => server.connectString).join(',')
    return this.open(connectString, { random: inOrder(servers.length), ...options })
  }

  async openMany(count: number, connectString: string, options: ConnectOptions = {}): Promise<Client[]> {
    const clients: Client[] = []
    while (clients.length < count) {
      const batch = Array.from({ length: Math.min(50, count - clients.length) }, () =>
        this.open(connectString, options),
      )
      clients.push(...(await Promise.all(batch)))
    }
    return clients
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#open].map(client => client.settled()))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map(client => client.close()))
    this.#open.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
