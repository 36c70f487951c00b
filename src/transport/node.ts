// Plain TCP through node:net; Bun, Deno and workerd have it too. The only file that knows it.
import { connect } from 'node:net'
import type { Dial } from './transport.ts'

/** Opens a TCP connection. Names are resolved anew at each call, and all addresses of a name are tried. */
export const dialTcp: Dial = ({ host, port }, handler) => {
  let failure: Error | undefined
  // Requests of one turn leave in one write already, so that waiting for more (Nagle) only costs time.
  const socket = connect({ host, port, noDelay: true })
  socket
    .on('connect', () => handler.opened())
    .on('data', chunk => handler.received(chunk))
    .on('error', error => (failure = error))
    .on('close', () => handler.closed(failure))
  return {
    write: bytes => void socket.write(bytes),
    destroy: () => void socket.destroy(),
  }
}
