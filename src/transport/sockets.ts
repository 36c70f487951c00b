// TCP and TLS over any `connect` of the shape that WinterTC proposes for sockets: that of cloudflare:sockets, of a binding to
// a private network, of another worker.
import type { Dial } from './transport.ts'

/**
 * Has a `connect` of the shape that WinterTC proposes: the module cloudflare:sockets, or a binding of a worker to a private
 * network or to another worker. Its result must have `readable` and `writable`, streams of bytes, the promise `opened`,
 * and `close()`.
 * @example
 * const binding = {} as { connect(address: { hostname: string; port: number }, options?: object): object }
 * const sockets: Sockets = binding
 * typeof cloudflare({ sockets }) // => 'function'
 */
export interface Sockets {
  connect(address: { hostname: string; port: number }, options?: never): object
}

/** The part of a socket that a dial uses. */
interface Socket {
  readonly opened: Promise<unknown>
  readonly readable: AsyncIterable<Uint8Array>
  readonly writable: { getWriter(): { readonly closed: Promise<unknown>; write(bytes: Uint8Array): Promise<void> } }
  close(): Promise<unknown> | undefined
}

export function dialOver(sockets: Sockets, secureTransport: 'on' | 'off'): Dial {
  return ({ host, port }, handler) => {
    const hostname = host.includes(':') ? `[${host}]` : host
    const options = { secureTransport, allowHalfOpen: false }
    const socket = sockets.connect({ hostname, port }, options as never) as Socket
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
