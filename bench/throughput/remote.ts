// A proxy in a separate process. It makes a server seem a millisecond away. Argument: the port of the server.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** The delay of each chunk, in each direction, ms. */
const DELAY = 1

const serverPort = Number(process.argv[2])

/** Writes what one socket receives to the other one, later. Timers of equal length fire in the order of the chunks. */
function forward(from: Socket, to: Socket): void {
  from.setNoDelay(true)
  from.on('data', chunk => setTimeout(() => to.write(chunk), DELAY))
  from.on('close', () => setTimeout(() => to.destroy(), DELAY))
  from.on('error', () => undefined)
}

const server = createServer(client => {
  const upstream = connect(serverPort, '127.0.0.1')
  forward(client, upstream)
  forward(upstream, client)
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
