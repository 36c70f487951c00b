// Taking TCP connections, through node:net.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Accept, Address } from './transport.ts'

export interface Listener {
  /** Where it listens: the port is the one that was found free, where 0 was asked for. */
  readonly address: Address
  /** Takes no more. Resolves when the streams that it took are closed too, which is for their owner to do. */
  close(): Promise<void>
}

/** @throws Error of node:net where the address cannot be had */
export async function listenTcp({ host, port }: Address, accept: Accept): Promise<Listener> {
  const server = createServer({ noDelay: true }, socket => {
    const handler = accept(
      {
        write: bytes => void socket.write(bytes),
        destroy: () => void socket.destroy(),
        end: () => socket.destroySoon(),
      },
      { host: expandAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 },
    )
    let failure: Error | undefined
    socket
      .on('data', chunk => handler.received(chunk))
      .on('error', error => (failure = error))
      .on('close', () => handler.closed(failure))
  })
  // A thousand clients may come at once.
  server.listen({ host, port, backlog: 4096 })
  await once(server, 'listening')
  return {
    address: { host, port: (server.address() as AddressInfo).port },
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}

/** An address as ZooKeeper names it: of IPv6 all eight numbers (InetAddress.getHostAddress), and none of IPv4 in its clothes. */
export function expandAddress(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [host = '', zone = ''] = plain.split(/(?=%)/)
  const [before = [], after] = host.split('::').map(part => (part === '' ? [] : part.split(':')))
  if (after === undefined) return plain
  const zeros = new Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].join(':') + zone
}
