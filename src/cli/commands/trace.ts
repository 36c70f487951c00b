// `zkwire trace`.
import { parseConnectString } from '../../session/servers/connect-string.ts'
import type { Address } from '../../transport/transport.ts'
import { untilAborted } from '../../runtime/abort.ts'
import { LinePrinter, lineOptions } from '../conversation/line-printer.ts'
import { command } from '../runner/command.ts'
import { UsageError } from '../runner/failure.ts'
import { TraceProxy } from '../trace/proxy.ts'

/** How many characters wait for a reader of the output that is slow. The proxy must not wait for it. */
const MOST_PENDING = 16 * 1024 * 1024

export const trace = command({
  name: 'trace',
  summary: 'prints the conversation of any client with its server, as a proxy between them',
  details: [
    "Connect any client (Java's, kazoo, this one) to LISTEN instead of the server. Each frame is one line: the seconds " +
      'since the start, the number of the connection, and a sentence. Passwords and credentials are not printed. The ' +
      'proxy listens on loopback unless LISTEN has an address.',
  ],
  arguments: [
    { name: 'LISTEN', help: 'local port (2182), 0 for any free port, or an address and a port (0.0.0.0:2182)' },
    { name: 'TARGET', help: 'address of the server, as localhost:2181' },
  ],
  options: lineOptions,
  examples: ['zkwire trace 2182 localhost:2181', 'zkwire trace --hex --no-pings 0.0.0.0:2182 zk1:2181'],
  connects: false,
  async run({ argument, out, err, values, clock, signal }) {
    const [listen, target] = [listenOn(argument('LISTEN')), addressOf('TARGET', argument('TARGET'))]
    const printer = new LinePrinter(out, values, { mostPending: MOST_PENDING })
    const begun = clock.now()
    const proxy = await TraceProxy.start(listen, target, (connection, line) =>
      printer.print(line, { seconds: (clock.now() - begun) / 1000, connection }),
    )
    try {
      const { host, port } = proxy.address
      const shown = host.includes(':') ? `[${host}]` : host
      await err.line(`listening on ${shown}:${port}, forwarding to ${argument('TARGET')}`)
      await untilAborted(new Promise<never>(() => undefined), signal)
    } finally {
      await proxy.close()
    }
  },
})

function addressOf(argument: string, text: string): Address {
  try {
    const { hosts, chroot } = parseConnectString(text)
    const [address, ...others] = hosts
    if (address !== undefined && others.length === 0 && chroot === '') return address
  } catch {
    // Reported below.
  }
  throw new UsageError(`${argument}: ${JSON.stringify(text)} is not HOST:PORT`)
}

function listenOn(text: string): Address {
  if (!/^\d+$/.test(text)) return addressOf('LISTEN', text)
  if (Number(text) > 65_535) throw new UsageError(`LISTEN: ${text} is not a port`)
  return { host: '127.0.0.1', port: Number(text) }
}
