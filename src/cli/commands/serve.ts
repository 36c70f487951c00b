// `zkwire serve`.
import { createReadStream } from 'node:fs'
import { Writable } from 'node:stream'
import { connect, digest } from '../../client/index.ts'
import { systemRandom } from '../../runtime/random.ts'
import { uuidFrom } from '../../runtime/uuid.ts'
import { Server } from '../../server/index.ts'
import { untilAborted } from '../../runtime/abort.ts'
import { command, type Context } from '../runner/command.ts'
import { statuses, UsageError } from '../runner/failure.ts'
import { runCommand } from '../runner/run.ts'
import { portOf, wholeNumberOf } from '../runner/values.ts'

export const serve = command({
  name: 'serve',
  summary: 'runs a ZooKeeper server in memory, for a try or a test, until Ctrl-C',
  details: [
    'The server accepts every client, and forgets everything when it ends. It listens on loopback unless --host is ' +
      'given. The first line that it prints is its connect string.',
  ],
  arguments: [],
  options: {
    port: { type: 'string', short: 'p', value: 'PORT', help: 'the port; default 2181, and 0 is any free one' },
    host: { type: 'string', value: 'ADDRESS', help: 'the address to listen on; default 127.0.0.1' },
    tick: {
      type: 'string',
      value: 'MS',
      help: 'length of a tick in milliseconds, which limits session timeouts; default 2000',
    },
    seed: { type: 'string', value: 'FILE', help: 'nodes to begin with, as zkwire export prints them' },
  },
  examples: ['zkwire serve', 'zkwire serve --port 0 --seed app.jsonl'],
  connects: false,
  async run(context) {
    const { values, out, signal } = context
    const port = portOf(values.port) ?? 2181
    const tickTime = wholeNumberOf('tick', values.tick, 1)
    const password = uuidFrom(systemRandom)
    const options = {
      port,
      extendedTypes: true,
      superDigest: digest('super', password),
      host: values.host,
      tickTime,
    }
    const server = await Server.start(options)
    try {
      if (values.seed !== undefined) {
        const status = await plant(server, values.seed, password, context)
        if (status !== statuses.ok) return status
      }
      await out.show({ connectString: server.connectString }, () => server.connectString)
      return await untilAborted(new Promise<never>(() => undefined), signal)
    } finally {
      await server.close()
    }
  },
})

/** Creates the nodes of a file, as the superuser, because ACLs may deny everybody else to create their children. */
async function plant(server: Server, file: string, password: string, { host, signal }: Context): Promise<number> {
  const load = host.commands.get('import')
  if (load === undefined) throw new Error('there is no command import')
  const stdin = createReadStream(file)
  const opened = new Promise<void>((resolve, reject) => stdin.once('open', () => resolve()).once('error', reject))
  await opened.catch((error: unknown) => {
    throw new UsageError(`--seed: cannot read ${file} (${(error as { code?: string }).code ?? 'unknown'})`)
  })
  const auth = [{ scheme: 'digest', auth: `super:${password}` }]
  const target = { servers: server.connectString, options: { dial: server.dial, auth, signal } }
  await using zk = await connect(target.servers, target.options)
  // The counts of the import are of no interest here. Its errors are printed, and that the file may be a part.
  const stdout = new Writable({ write: (_chunk, _encoding, callback) => callback() })
  return await runCommand(await load(), ['--overwrite', '--part', '--force'], {
    ...host,
    stdin,
    stdout,
    hasConnectionOptions: false,
    sessions: () => ({
      target: () => Promise.resolve(target),
      endsWithCommand: false,
      open: () => Promise.resolve(zk),
      supervise: task => Promise.resolve(task(zk, signal)),
    }),
  })
}
