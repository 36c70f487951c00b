// `npm run trace`: shows any client's live session, frame by frame.
import { parseArgs } from 'node:util'
import { parseConnectString } from '../src/session/servers/connect-string.ts'
import type { Address } from '../src/transport/transport.ts'
import { TraceProxy } from './proxy.ts'

const help = `npm run trace -- [options] LISTEN HOST:PORT

A proxy that prints what a ZooKeeper client and its server say to each other, a line
a frame: point any client (Java's, kazoo, this one) at LISTEN in the place of the
server. Passwords and credentials are not shown.

  LISTEN       a port of this machine (2182), or an address and a port (0.0.0.0:2182)
  HOST:PORT    the server
  --hex        with each frame its bytes, field by field
  --no-pings   leave pings out
  --help       this
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
    // Told below.
  }
  throw new UsageError(`${JSON.stringify(text)} is not HOST:PORT`)
}

function listenOn(text: string): Address {
  if (!/^\d+$/.test(text)) return addressOf(text)
  if (Number(text) > 65_535) throw new UsageError(`${text} is no port`)
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
    throw new UsageError('LISTEN and HOST:PORT are wanted')
  const begun = performance.now()
  const proxy = await TraceProxy.start(listenOn(listen), addressOf(target), (connection, line) => {
    if (line.isPing && values['no-pings']) return
    const seconds = ((performance.now() - begun) / 1000).toFixed(3)
    process.stdout.write(`${seconds.padStart(9)}  [${connection}]  ${line.sentence}\n`)
    if (values.hex && line.dump !== '') process.stdout.write(line.dump.replace(/^/gm, ' '.repeat(11)) + '\n')
  })
  const { host, port } = proxy.address
  process.stderr.write(`listening on ${host.includes(':') ? `[${host}]` : host}:${port}, passing on to ${target}\n`)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void proxy.close())
  // Who reads no further, as `head` does, has seen enough.
  process.stdout.on('error', () => process.exit())
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  const hint = error instanceof UsageError ? ' (npm run trace -- --help tells more)' : ''
  process.stderr.write(`${(error as Error).message}${hint}\n`)
  process.exit(error instanceof UsageError ? 2 : 1)
}
