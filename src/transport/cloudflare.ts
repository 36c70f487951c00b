// TCP and TLS through cloudflare:sockets, which workerd has. The only file that knows it.
import { connect } from 'cloudflare:sockets'
import type { Dial } from './transport.ts'

export interface CloudflareOptions {
  /** Speak TLS. The certificate must be one that the runtime trusts, for the host as the connect string names it. Default false. */
  tls?: boolean
}

/**
 * A dial for workers: `connect(servers, { dial: cloudflare() })`. A socket belongs to the request, or to the Durable Object, that opened it.
 * Which of a name's addresses is taken is the runtime's choice.
 */
export function cloudflare({ tls = false }: CloudflareOptions = {}): Dial {
  return ({ host, port }, handler) => {
    const hostname = host.includes(':') ? `[${host}]` : host
    const socket = connect({ hostname, port }, { secureTransport: tls ? 'on' : 'off', allowHalfOpen: false })
    const writer = socket.writable.getWriter()
    let isOver = false
    // Where the request that opened it is over, even this throws, and does so at once.
    const close = async () => socket.close()
    const end = (cause?: Error) => {
      if (isOver) return
      isOver = true
      close().catch(ignore)
      handler.closed(cause)
    }
    const tell = (what: () => void) => {
      if (!isOver) what()
    }
    const read = async () => {
      await socket.opened
      tell(() => handler.opened())
      for await (const { buffer, byteOffset, byteLength } of socket.readable)
        tell(() => handler.received(Buffer.from(buffer, byteOffset, byteLength)))
    }
    // Whatever ends the socket ends the reading of it.
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
