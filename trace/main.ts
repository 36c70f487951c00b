// `npm run trace`: a proxy that prints the live sessions of any client, frame by frame. This folder holds the proxy,
// the text of a conversation, and the command.
// May import: src/protocol/index.ts, src/session/servers/connect-string.ts, src/transport/transport.ts.
import { parseArgs } from 'node:util'
import { parseConnectString } from '../src/session/servers/connect-string.ts'
import type { Address } from '../src/transport/transport.ts'
import { TraceProxy } from './proxy.ts'

const help = `npm run trace -- [options] LISTEN HOST:PORT

A proxy that prints the conversation of a ZooKeeper client and its server, one line
per frame. Connect any client (Java's, kazoo, this one) to LISTEN instead of the
server. Passwords and credentials are not printed.

  LISTEN       a local port (2182), or an address and a port (0.0.0.0:2182)
  HOST:PORT    the address of the server
  --hex        print the bytes of each frame too, field by field
  --no-pings   do not print pings
  --help       print this help
`

class UsageError extends Error {}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({ args, allowPositionals: true, options: { hex: flag, 'no-pings': flag, help: flag } })
  } catch (error) {
    throw new UsageError((error as Error).message.split(/\.\s|\n/)[0])
  }
}

function addressOf(text: string): Address {
  try {
    const { hosts, chroot } = parseConnectString(text)
    const [address, ...others] = hosts
    if (address !== undefined && others.length === 0 && chroot === '') return address
  } catch {
    // Reported below.
  }
  throw new UsageError(`${JSON.stringify(text)} is not HOST:PORT`)
}

function listenOn(text: string): Address {
  if (!/^\d+$/.test(text)) return addressOf(text)
  if (Number(text) > 65_535) throw new UsageError(`${text} is not a port`)
  return { host: '127.0.0.1', port: Number(text) }
}

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parse(args)
  if (values.help) {
    process.stdout.write(help)
    return
  }
  const [listen, target, ...others] = positionals
  if (listen === undefined || target === undefined || others.length > 0)
    throw new UsageError('expected two arguments, LISTEN and HOST:PORT')
  const begun = performance.now()
  const proxy = await TraceProxy.start(listenOn(listen), addressOf(target), (connection, line) => {
    if (line.isPing && values['no-pings']) return
    const seconds = ((performance.now() - begun) / 1000).toFixed(3)
    process.stdout.write(`${seconds.padStart(9)}  [${connection}]  ${line.sentence}\n`)
    if (values.hex && line.dump !== '') process.stdout.write(line.dump.replace(/^/gm, ' '.repeat(11)) + '\n')
  })
  const { host, port } = proxy.address
  process.stderr.write(`listening on ${host.includes(':') ? `[${host}]` : host}:${port}, forwarding to ${target}\n`)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void proxy.close())
  // The reader has closed the pipe, as `head` does.
  process.stdout.on('error', () => process.exit())
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  const hint = error instanceof UsageError ? ' (see npm run trace -- --help)' : ''
  process.stderr.write(`${(error as Error).message}${hint}\n`)
  process.exit(error instanceof UsageError ? 2 : 1)
}
