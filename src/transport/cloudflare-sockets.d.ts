// The part of Cloudflare's declarations that we use, copied to avoid a dependency.
declare module 'cloudflare:sockets' {
  import type { ReadableStream, WritableStream } from 'node:stream/web'

  export interface Socket {
    readonly opened: Promise<unknown>
    readonly readable: ReadableStream<Uint8Array>
    readonly writable: WritableStream<Uint8Array>
    close(): Promise<void>
  }

  export function connect(
    address: { hostname: string; port: number },
    options: { secureTransport: 'on' | 'off'; allowHalfOpen: boolean },
  ): Socket
}
