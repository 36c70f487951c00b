// Gives the commands a process: arguments, streams, signals, and a session that ends with the command.
import { readFileSync } from 'node:fs'
import { systemClock } from '../runtime/clock.ts'
import { leadingOptions } from './runner/arguments.ts'
import type { Host } from './runner/command.ts'
import { OwnSessions, targetOf } from './runner/connection.ts'
import { messageOf, statuses, statusOf, unknownCommand } from './runner/failure.ts'
import { noticesWritten } from './runner/output.ts'
import { runCommand } from './runner/run.ts'
import { ENDING, Signals } from './runner/signals.ts'
import { commands } from './table.ts'

async function main(words: readonly string[]): Promise<number> {
  const { options, rest } = leadingOptions(words)
  const [name = 'help', ...args] = rest
  if (name === '--version' || name === '-V') {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    process.stdout.write(`${(JSON.parse(manifest) as { version: string }).version}\n`)
    return statuses.ok
  }
  const load = commands.get(name === '--help' || name === '-h' ? 'help' : name)
  if (load === undefined) throw unknownCommand(name, commands.keys())
  // An error that comes after the command has ended must not become an uncaught exception.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const signals = new Signals(listen)
  for (const each of ENDING)
    process.on(each, (name: NodeJS.Signals, number: number) => {
      // The second Ctrl-C does not wait until the session is closed.
      if (signals.ending.aborted) process.exit(128 + number)
      signals.deliver(name)
    })
  let sessions: OwnSessions | undefined
  const { stdout, stderr, env } = process
  const host: Host = {
    // Opened only by commands that read it.
    get stdin() {
      return process.stdin
    },
    stdout,
    stderr,
    env,
    signals,
    commands,
    clock: systemClock,
    programStdin: 'inherit',
    hasConnectionOptions: true,
    resolve: text => (text === '.' ? '/' : text),
    sessions: (values, say, command) =>
      (sessions ??= new OwnSessions(() => targetOf(values, env, systemClock), signals.ending, say, command)),
  }
  const status = await runCommand(await load(), [...options, ...args], host)
  await sessions?.close()
  await noticesWritten(stderr)
  return status
}

function listen(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): () => void {
  process.on(name, listener)
  return () => process.off(name, listener)
}

let status: number
try {
  status = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`zkwire: ${messageOf(error)} (see zkwire help)\n`)
  status = statusOf(error)
}
// Pipes may be asynchronous. What a command has printed must be written before the process ends.
await new Promise<void>(resolve => {
  if (process.stdout.destroyed) resolve()
  else process.stdout.write('', () => resolve())
})
process.exit(status)
