// The module cloudflare:sockets, over node:net, so that examples of `zkwire/cloudflare` run in Node.
import { connect as connectTcp } from 'node:net'
import { once } from 'node:events'
import { Duplex } from 'node:stream'

export function connect({ hostname, port }: { hostname: string; port: number }): object {
  const socket = connectTcp({ host: hostname, port })
  const { readable, writable } = Duplex.toWeb(socket)
  return { readable, writable, opened: once(socket, 'connect'), close: () => Promise.resolve(void socket.destroy()) }
}
