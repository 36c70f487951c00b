// Sessions of a test, all closed behind it.
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'

/**
 * For sessions whose server is killed and starts again. Apache's, while it has no database yet, fails to close what it refuses
 * (NIOServerCnxn.close, ZooKeeperServer.removeCnxn): such a handshake is neither answered nor ended.
 */
export const SHORT_ATTEMPTS: ConnectOptions = { attemptTimeout: 1500 }

export class Sessions implements AsyncDisposable {
  readonly #open = new Set<Client>()

  /** A session of its own. */
  async open(connectString: string, options: ConnectOptions = {}): Promise<Client> {
    const client = await connect(connectString, { sessionTimeout: 6000, ...options })
    this.#open.add(client)
    return client
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
