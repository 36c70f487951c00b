// Accepts TCP connections, through node:net or node:tls.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TlsServerOptions } from '../runtime/globals.d.ts'
import type { Accept, Address } from './transport.ts'

export interface Listener {
  /** The address that the server listens on. If port 0 was requested, `port` is the port that the system chose. */
  readonly address: Address
  /** Stops accepting. Resolves when all accepted streams are closed; their owner must close them. */
  close(): Promise<void>
}

/** The number of connections that the system may hold before they are accepted. A thousand clients may connect at once. */
export const BACKLOG = 4096

/**
 * Listens on an address and calls `accept` for each connection.
 * @param tls options of node:tls: accepts TLS only. Default: plaintext only.
 * @throws Error of node:net if it cannot listen on the address
 * @throws Error of node:tls if a key, a certificate or a passphrase is invalid
 */
export async function listenTcp({ host, port }: Address, accept: Accept, tls?: TlsServerOptions): Promise<Listener> {
  const onSocket = (socket: Socket) => {
    const handler = accept(
      {
        write: bytes => void socket.write(bytes),
        destroy: () => void socket.destroy(),
        end: () => socket.destroySoon(),
        get unsent() {
          return socket.writableLength
        },
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
      },
      { host: expandAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 },
    )
    let failure: Error | undefined
    if (handler === undefined) {
      socket.destroy()
      return
    }
    socket
      .on('data', chunk => handler.received(chunk))
      .on('drain', () => handler.drained?.())
      .on('error', error => (failure = error))
      .on('close', () => handler.closed(failure))
  }
  const server =
    tls === undefined
      ? createServer({ noDelay: true }, onSocket)
      : // Imported only if it is used, because not every runtime has TLS servers.
        (await import('node:tls')).createServer({ minVersion: 'TLSv1.2', noDelay: true, ...tls }, onSocket)
  // The owner cannot close a connection whose TLS handshake is not complete.
  const sockets = new Set<Socket>()
  if (tls !== undefined)
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
  server.listen({ host, port, backlog: BACKLOG })
  await once(server, 'listening')
  // The system could not accept one connection, for example because it has no memory left. The next ones may succeed.
  server.on('error', () => undefined)
  return {
    address: { host, port: (server.address() as AddressInfo).port },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/**
 * Returns an IP address in the form that ZooKeeper prints (InetAddress.getHostAddress): IPv6 with all eight numbers,
 * IPv4-mapped IPv6 as IPv4.
 */
export function expandAddress(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [host = '', zone = ''] = plain.split(/(?=%)/)
  const [before = [], after] = host.split('::').map(part => (part === '' ? [] : part.split(':')))
  if (after === undefined) return plain
  const zeros = new Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].join(':') + zone
}
