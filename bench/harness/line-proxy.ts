// A process between the clients and the server, which passes on all bytes later, as a line would. Arguments: the port of
// the server, and the line as JSON. It has a process of its own, so that its processor time belongs to neither end.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { seededRandom } from '../../environment/seeded-random.ts'
import { LineTiming, type Line } from './line-timing.ts'

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
process.once('disconnect', () => process.exit())

const [host = '', port, text = ''] = process.argv.slice(2)
const given = JSON.parse(text) as Omit<Line, 'bandwidth'> & { bandwidth: number | null }
// JSON has no Infinity.
const line: Line = { ...given, bandwidth: given.bandwidth ?? Infinity }
const random = seededRandom(1)

/** A timer of Node ends up to so much later than asked, ms. What is due sooner is passed on by turns without a timer. */
const TIMER = 1.5

function forward(from: Socket, to: Socket): void {
  const timing = new LineTiming(line, random)
  const waiting: { at: number; pass: () => void }[] = []
  const pump = () => {
    for (;;) {
      const [next] = waiting
      if (next === undefined) return
      const left = next.at - performance.now()
      if (left > 0) {
        if (left > TIMER) setTimeout(pump, left - TIMER)
        else setImmediate(pump)
        return
      }
      waiting.shift()
      next.pass()
    }
  }
  const later = (bytes: number, pass: () => void) => {
    waiting.push({ at: timing.arrival(performance.now(), bytes), pass })
    if (waiting.length === 1) pump()
  }
  from.on('data', chunk => later(chunk.length, () => to.write(chunk)))
  from.on('error', () => undefined)
  from.on('close', () => later(0, () => to.destroy()))
}

const server = createServer({ noDelay: true }, client => {
  const upstream = connect({ host, port: Number(port), noDelay: true })
  forward(client, upstream)
  forward(upstream, client)
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
await once(server, 'listening')
process.send?.(`127.0.0.1:${(server.address() as AddressInfo).port}`)
