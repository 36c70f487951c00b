// TCP and TLS in workerd. Only this file imports cloudflare:sockets.
import { connect } from 'cloudflare:sockets'
import { dialOver, type Sockets } from './sockets.ts'
import type { Dial } from './transport.ts'

/**
 * Options of {@link cloudflare}.
 * @example
 * const options: CloudflareOptions = { tls: true }
 * typeof cloudflare(options) // => 'function'
 */
export interface CloudflareOptions {
  /**
   * Uses TLS. The runtime must trust the server's certificate, which must be for the host in the connect string.
   * Default false.
   */
  tls?: boolean | undefined
  /**
   * Opens the sockets: a binding of the worker to a private network or to another worker, such as `env.NETWORK`, or any
   * object with a `connect` of that shape. Default: the module cloudflare:sockets.
   */
  sockets?: Sockets | undefined
}

/**
 * Returns a dial for Cloudflare Workers: `connect(servers, { dial: cloudflare() })`. A socket belongs to the request,
 * or to the Durable Object, that opened it. If a name has several addresses, the runtime chooses one.
 * @example
 * import { connect } from 'zkwire'
 * await using zk = await connect('localhost:2181', { dial: cloudflare() })
 * zk.state // => 'connected'
 */
export const cloudflare = ({ tls, sockets }: CloudflareOptions = {}): Dial =>
  dialOver(sockets ?? { connect }, tls === true ? 'on' : 'off')
