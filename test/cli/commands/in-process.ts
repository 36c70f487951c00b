// The commands of the program `zkwire` in this process, with a server in memory.
import { Readable, Writable } from 'node:stream'
import type { Host, Sessions } from '../../../src/cli/runner/command.ts'
import type { OwnSessions } from '../../../src/cli/runner/connection.ts'
import type { Signals } from '../../../src/cli/runner/signals.ts'
import { systemClock, type Clock } from '../../../src/runtime/clock.ts'
import type { Server } from '../../../src/server/index.ts'

interface Ended {
  readonly status: number
  readonly out: string
  readonly err: string
}

interface RunOptions {
  /** The chunks of stdin. Default: none. */
  readonly input?: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>
  readonly env?: Readonly<Record<string, string>>
  readonly clock?: Clock
  /** Default: a session of its own. */
  readonly shell?: Sessions
}

/** Loaded as the table loads the commands. Otherwise there would be two copies of each module under tsx. */
const load = async () => ({
  ...(await import('../../../src/cli/table.ts')),
  ...(await import('../../../src/cli/runner/connection.ts')),
  ...(await import('../../../src/cli/runner/run.ts')),
  ...(await import('../../../src/cli/runner/signals.ts')),
})

type Modules = Awaited<ReturnType<typeof load>>

/** A command that runs. */
class Running {
  readonly signals: Signals
  readonly ended: Promise<Ended>
  out = ''
  err = ''

  constructor(
    { commands, OwnSessions, targetOf, runCommand, Signals }: Modules,
    server: Pick<Server, 'connectString' | 'dial'>,
    args: readonly string[],
    options: RunOptions,
  ) {
    this.signals = new Signals()
    const { input = [], env = {}, clock = systemClock, shell } = options
    let sessions: OwnSessions | undefined
    const host: Host = {
      stdin: Readable.from(input, { objectMode: false }),
      stdout: collect(text => (this.out += text)),
      stderr: collect(text => (this.err += text)),
      env: { ZKWIRE_SERVER: server.connectString, ...env },
      signals: this.signals,
      commands,
      clock,
      programStdin: 'ignore',
      hasConnectionOptions: true,
      resolve: text => (text === '.' ? '/' : text),
      sessions: (values, say, command) =>
        shell ??
        (sessions ??= new OwnSessions(
          async () => {
            const target = await targetOf(values, host.env, clock)
            return { ...target, options: { ...target.options, dial: server.dial } }
          },
          this.signals.ending,
          say,
          command,
        )),
    }
    const [name = '', ...rest] = args
    this.ended = (async () => {
      const load = commands.get(name)
      if (load === undefined) throw new Error(`there is no command ${name}`)
      const status = await runCommand(await load(), rest, host)
      await sessions?.close()
      return { status, out: this.out, err: this.err }
    })()
  }
}

const collect = (onText: (text: string) => void): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, callback) {
      onText(String(chunk))
      callback()
    },
  })

export interface Starters {
  /** Starts a command. */
  readonly start: (args: readonly string[], options?: RunOptions) => Running
  /** Runs a command to its end. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ended>
}

/** @param server the server of the commands, unless they name another one */
export async function inProcess(server: Pick<Server, 'connectString' | 'dial'>): Promise<Starters> {
  const modules = await load()
  const start: Starters['start'] = (args, options = {}) => new Running(modules, server, args, options)
  return { start, run: (args, options) => start(args, options).ended }
}
