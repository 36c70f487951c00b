// The address at which clients reach a server: a TCP port, or a name for the connections within the process.
import { hostPortOf } from '../../runtime/host-port.ts'
import { listenTcp, type Listener } from '../../transport/listen.ts'
import { memoryDial } from '../../transport/memory.ts'
import type { Address, Dial } from '../../transport/transport.ts'
import type { Settings } from '../control/options.ts'
import type { ServerCore } from './server-core.ts'

/** The port in the connect string of a server that does not listen. */
const PLACEHOLDER = 2181

export class Endpoint {
  readonly core: ServerCore
  /** Connects to the server without a socket. */
  readonly dial: Dial
  readonly host: string
  /** The TCP port, or 0 if the server does not listen. */
  readonly port: number
  /** Undefined while the server does not listen. */
  #listener: Listener | undefined

  private constructor(core: ServerCore, listener: Listener | undefined) {
    this.core = core
    this.#listener = listener
    this.dial = memoryDial(core.accept)
    this.host = listener?.address.host ?? 'memory'
    this.port = core.port = listener?.address.port ?? 0
  }

  /** @throws Error of node:net or node:tls if the server cannot listen */
  static async open(core: ServerCore, settings: Settings, port: number): Promise<Endpoint> {
    const { host, tls } = settings
    return new Endpoint(core, settings.listen ? await listenTcp({ host, port }, core.accept, tls) : undefined)
  }

  /** The address in the connect string. A placeholder, if the server does not listen. */
  get address(): Address {
    const { host, port, core } = this
    return { host, port: port === 0 ? PLACEHOLDER + Math.max(0, core.id - 1) : port }
  }

  get connectString(): string {
    return hostPortOf(this.address)
  }

  /** Refuses connections. Resolves when the accepted ones are closed; their owner must close them. */
  async close(): Promise<void> {
    const listener = this.#listener
    this.#listener = undefined
    await listener?.close()
  }

  /** Listens again on the same port, if the server listened. */
  async reopen(): Promise<void> {
    const { host, port, core } = this
    if (port !== 0) this.#listener ??= await listenTcp({ host, port }, core.accept, core.settings.tls)
  }
}

/** Connects to the server that has the port in the connect string, or else to the first. */
export const dialOf =
  (endpoints: readonly Endpoint[]): Dial =>
  (address, handler) =>
    ((endpoints.find(endpoint => endpoint.address.port === address.port) ?? endpoints[0]) as Endpoint).dial(
      address,
      handler,
    )
