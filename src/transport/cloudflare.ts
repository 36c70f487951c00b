// TCP and TLS in workerd. Only this file imports cloudflare:sockets.
import { connect } from 'cloudflare:sockets'
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
}

/**
 * Returns a dial for Cloudflare Workers: `connect(servers, { dial: cloudflare() })`. A socket belongs to the request,
 * or to the Durable Object, that opened it. If a name has several addresses, the runtime chooses one.
 * @example
 * import { connect } from 'zkwire'
 * await using zk = await connect('localhost:2181', { dial: cloudflare() })
 * zk.state // => 'connected'
 */
export function cloudflare({ tls = false }: CloudflareOptions = {}): Dial {
  return ({ host, port }, handler) => {
    const hostname = host.includes(':') ? `[${host}]` : host
    const socket = connect({ hostname, port }, { secureTransport: tls ? 'on' : 'off', allowHalfOpen: false })
    const writer = socket.writable.getWriter()
    let isOver = false
    // Async, because close() throws synchronously if the request that opened the socket is over.
    const close = async () => socket.close()
    const end = (cause?: Error) => {
      if (isOver) return
      isOver = true
      close().catch(ignore)
      handler.closed(cause)
    }
    const notify = (callback: () => void) => {
      if (!isOver) callback()
    }
    const read = async () => {
      await socket.opened
      notify(() => handler.opened())
      for await (const { buffer, byteOffset, byteLength } of socket.readable)
        notify(() => handler.received(Buffer.from(buffer, byteOffset, byteLength)))
    }
    // This rejection is ignored, because the read loop also ends with the socket and reports the error.
    writer.closed.catch(ignore)
    read().then(() => end(), end)
    return {
      write: bytes => void writer.write(bytes).catch(end),
      destroy: () => {
        isOver = true
        close().catch(ignore)
      },
    }
  }
}

const ignore = () => undefined
