// An embedded ZooKeeper, in memory: for tests, demos and teaching. What it forgets when it closes is gone, and there is only one of it:
// in production the same client is pointed at an Apache ZooKeeper ensemble.
import { listenTcp, type Listener } from '../transport/listen.ts'
import { memoryDial } from '../transport/memory.ts'
import type { Dial } from '../transport/transport.ts'
import type { ServerStats } from './counts.ts'
import type { Faults } from './faults.ts'
import { settingsOf, type ServerOptions } from './options.ts'
import { ServerCore } from './service.ts'
import { snapshotOf, type Snapshot } from './snapshot.ts'

export class Server {
  readonly #service: ServerCore
  readonly #listener: Listener | undefined
  /** Reaches the server without a socket, whatever the address: for `connect(server.connectString, { dial: server.dial })`. */
  readonly dial: Dial
  readonly host: string
  /** 0 where it does not listen. */
  readonly port: number

  private constructor(service: ServerCore, listener: Listener | undefined) {
    this.#service = service
    this.#listener = listener
    this.dial = memoryDial(service.accept)
    this.host = listener?.address.host ?? 'memory'
    this.port = listener?.address.port ?? 0
  }

  /**
   * An empty server that serves.
   * @throws RangeError where an option makes no sense; Error of node:net where the address cannot be had
   */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const settings = settingsOf(options)
    const service = new ServerCore(settings)
    try {
      return new Server(service, settings.listen ? await listenTcp(settings, service.accept) : undefined)
    } catch (error) {
      service.close()
      throw error
    }
  }

  /** For connect(). A server that does not listen is named all the same, and is to be reached by `dial`. */
  get connectString(): string {
    const host = this.host.includes(':') ? `[${this.host}]` : this.host
    return `${host}:${this.port === 0 ? 2181 : this.port}`
  }

  /** What is to go wrong: held, late, lost and changed answers, connections that are cut. */
  get faults(): Faults {
    return this.#service.faults
  }

  /** What it has taken in and sent out since it began: frames, and their bytes with the four of each length. */
  get stats(): ServerStats {
    return this.#service.counts
  }

  /** What it holds at this moment. */
  snapshot(): Snapshot {
    return snapshotOf(this.#service)
  }

  /** Ends a session as if it had been silent for too long. Returns false where there is no such session. */
  expireSession(id: bigint): boolean {
    const session = this.#service.sessions.get(id)
    if (session !== undefined) this.#service.endSession(session)
    return session !== undefined
  }

  /** Ends every connection. The sessions live on, until they have been silent for too long. */
  dropConnections(): void {
    this.#service.dropConnections()
  }

  /** As a stopped process: it takes connections and bytes, and does and says nothing. No session ends meanwhile. */
  pause(): void {
    this.#service.pause()
  }

  /** Goes on: with what came meanwhile, and then with the sessions that nothing came of. */
  resume(): void {
    this.#service.resume()
  }

  /**
   * Lets the counter below `path` go on from `next`, a 32-bit integer: the next sequential child is called by it. At 2147483647 it sticks.
   * @throws RangeError where `next` is no such integer; Error where there is no such node
   */
  setSequenceCounter(path: string, next: number): void {
    if ((next | 0) !== next) throw new RangeError(`${next} is not a 32-bit integer`)
    const node = this.#service.database.tree.find(path)
    if (node === undefined) throw new Error(`there is no node ${path}`)
    node.created = next
  }

  /** Deletes the containers, and the nodes with a ttl, whose time has come, without waiting for the next look at them. */
  runContainerCheck(): void {
    this.#service.database.reap()
  }

  /** Ends all of it, as if its process were gone: connections, and sessions. What nodes there were its last `snapshot()` still shows. */
  async close(): Promise<void> {
    const closed = this.#listener?.close()
    this.#service.close()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
