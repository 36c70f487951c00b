// `zkwire trace`.
import { parseConnectString } from '../../session/servers/connect-string.ts'
import type { Address } from '../../transport/transport.ts'
import { hostPortOf, withoutSecrets } from '../../runtime/host-port.ts'
import { pause } from '../../runtime/pause.ts'
import { untilAborted } from '../../runtime/abort.ts'
import { LinePrinter, lineOptions } from '../conversation/line-printer.ts'
import { command } from '../runner/command.ts'
import { aligned } from '../nodes/stat-text.ts'
import { UsageError } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { secondsOf } from '../runner/values.ts'
import { TraceProxy, type OnConnection } from '../trace/proxy.ts'
import { Traffic, type TrafficRow } from '../trace/traffic.ts'

/** How many characters wait for a reader of the output that is slow. The proxy must not wait for it. */
const MOST_PENDING = 16 * 1024 * 1024
/** How many rows of a table are printed. JSON has all. */
const SHOWN_ROWS = 20

export const trace = command({
  name: 'trace',
  summary: 'prints the conversation of any client with its server, as a proxy between them',
  details: [
    "Connect any client (Java's, kazoo, this one) to LISTEN instead of the server. Each frame is one line: the seconds " +
      'since the start, the number of the connection, and a sentence. Passwords and credentials are not printed. The ' +
      'proxy listens on loopback unless LISTEN has an address.',
    'With --top, a table every SECONDS takes the place of the frames: the requests of each client for each node, the bytes ' +
      'of these, of their replies and of events, the watches that the server set, and the events that it sent. The rows ' +
      `with the most bytes come first; only JSON has more than ${SHOWN_ROWS}. A multi counts for the node of its first ` +
      'operation, and - is no node.',
  ],
  arguments: [
    { name: 'LISTEN', help: 'local port (2182), 0 for any free port, or an address and a port (0.0.0.0:2182)' },
    { name: 'TARGET', help: 'address of the server, as localhost:2181' },
  ],
  options: {
    ...lineOptions,
    top: { type: 'string', value: 'SECONDS', help: 'prints a table by client and node every SECONDS, not the frames' },
  },
  examples: [
    'zkwire trace 2182 localhost:2181',
    'zkwire trace --top 5 2182 localhost:2181',
    'zkwire trace --hex --no-pings 0.0.0.0:2182 zk1:2181',
  ],
  connects: false,
  async run({ argument, out, err, values, clock, signal }) {
    const [listen, target] = [listenOn(argument('LISTEN')), addressOf('TARGET', argument('TARGET'))]
    const every = secondsOf('top', values.top)
    if (every !== undefined && values.hex) throw new UsageError('--top prints no frames: leave out --hex')
    const printer = new LinePrinter(out, values, { mostPending: MOST_PENDING })
    const begun = clock.now()
    const seconds = () => (clock.now() - begun) / 1000
    const traffic = new Traffic()
    const onConnection: OnConnection = ({ number, client }) => {
      const count = traffic.of(client)
      return line => {
        if (every === undefined || line.frame === undefined)
          printer.print(line, { seconds: seconds(), connection: number })
        else if (!(line.isPing && values['no-pings'])) count(line)
      }
    }
    const proxy = await TraceProxy.start(listen, target, onConnection)
    try {
      await err.line(`listening on ${hostPortOf(proxy.address)}, forwarding to ${argument('TARGET')}`)
      while (every !== undefined && !signal.aborted) {
        await pause(clock, every * 1000, signal)
        const [at, rows] = [seconds(), traffic.take()]
        printer.show({ seconds: at, rows }, () => tableOf(at, rows))
      }
      await untilAborted(new Promise<never>(() => undefined), signal)
    } finally {
      await proxy.close()
    }
  },
})

function tableOf(seconds: number, rows: readonly TrafficRow[]): string[] {
  const start = seconds.toFixed(3).padStart(9)
  if (rows.length === 0) return [`${start}  no frames`]
  const more = rows.length - SHOWN_ROWS
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  const clients = new Set(rows.map(({ client }) => client)).size
  const cells = rows
    .slice(0, SHOWN_ROWS)
    .map(({ client, path, ...counts }) => [...Object.values(counts).map(String), client, escaped(path)])
  return [
    `${start}  ${bytes} bytes of ${clients} ${clients === 1 ? 'client' : 'clients'}`,
    ...aligned([['requests', 'bytes', 'watches', 'events', 'client', 'node'], ...cells]),
    ...(more > 0 ? [`and ${more} rows with fewer bytes`] : []),
  ]
}

function addressOf(argument: string, text: string): Address {
  try {
    const { hosts, chroot } = parseConnectString(text)
    const [address, ...others] = hosts
    if (address !== undefined && others.length === 0 && chroot === '') return address
  } catch {
    // Reported below.
  }
  throw new UsageError(`${argument}: ${JSON.stringify(withoutSecrets(text))} is not HOST:PORT`)
}

function listenOn(text: string): Address {
  if (!/^\d+$/.test(text)) return addressOf('LISTEN', text)
  if (Number(text) > 65_535) throw new UsageError(`LISTEN: ${text} is not a port`)
  return { host: '127.0.0.1', port: Number(text) }
}
