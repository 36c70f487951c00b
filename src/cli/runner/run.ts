// Runs one command, for the process and for the shell, and returns its exit status.
import { onAbort, untilAborted } from '../../runtime/abort.ts'
import type { Clock } from '../../runtime/clock.ts'
import { optionsOf, parse, type Parsed } from './arguments.ts'
import type { Command, Context, Host, Options, Sessions, Values } from './command.ts'
import { messageOf, statusOf, statuses, UsageError } from './failure.ts'
import { helpOf } from './help-text.ts'
import { mayColour, Output, watchClosing } from './output.ts'

/**
 * Parses the arguments and runs the command. Prints one line if it fails. Resolves when the command has ended. If a
 * signal or a closed output ends it, resolves at once, unless the command ends itself. Never rejects.
 */
export async function runCommand(command: Command, args: readonly string[], host: Host): Promise<number> {
  const ended = new AbortController()
  const cleanUp = [
    watchClosing(host.stdout, ended),
    onAbort(host.signals.ending, () => ended.abort(host.signals.ending.reason)),
  ]
  const outputTo = (stream: NodeJS.WritableStream, isJson: boolean) =>
    new Output(stream, ended, { isJson, hasColour: mayColour(stream, host.env) })
  const err = outputTo(host.stderr, false)
  try {
    const options = optionsOf(command, host.hasConnectionOptions)
    const parsed = parse(command, args, options, text => host.resolve(text))
    const out = outputTo(host.stdout, parsed.values['json'] === true)
    if (parsed.values['help'] === true) {
      await out.write(helpOf(command, host.hasConnectionOptions))
      return statuses.ok
    }
    const running: Promise<unknown> = command.run(contextOf(command, parsed, host, out, err, ended.signal))
    const status = await (command.endsItself === true ? running : untilAborted(running, ended.signal))
    ended.signal.throwIfAborted()
    return typeof status === 'number' ? status : statuses.ok
  } catch (error) {
    return report(command, error, err)
  } finally {
    for (const undo of cleanUp) undo()
  }
}

function report(command: Command, error: unknown, err: Output): number {
  const message = messageOf(error)
  const hint = error instanceof UsageError ? ` (see zkwire help ${command.name})` : ''
  // Not through Output, which does not write after the end.
  if (message !== undefined) err.stream.write(`zkwire ${command.name}: ${message}${hint}\n`)
  return statusOf(error)
}

/** Rejects if the work takes longer than `ms` milliseconds. */
export async function withTimeout<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = clock.setTimeout(() => controller.abort(new Error('too late')), ms)
  try {
    return await untilAborted(work(controller.signal), controller.signal)
  } finally {
    clock.clearTimeout(timer)
  }
}

function contextOf(
  { name }: Command,
  { values, positionals, program }: Parsed,
  host: Host,
  out: Output,
  err: Output,
  signal: AbortSignal,
): Context {
  const all = (name: string) => positionals.get(name) ?? []
  let sessions: Sessions | undefined
  const say = (text: string) => err.notice(`zkwire ${name}: ${text}`)
  const sessionsOnce = () => (sessions ??= host.sessions(values, say, name))
  return {
    values: values as Values<Options>,
    all,
    optional: name => all(name)[0],
    argument(name) {
      const [value] = all(name)
      if (value === undefined) throw new UsageError(`the argument ${name} is missing`)
      return value
    },
    program,
    get stdin() {
      return host.stdin
    },
    out,
    err,
    env: host.env,
    clock: host.clock,
    signals: host.signals,
    signal,
    commands: host.commands,
    get sessions() {
      return sessionsOnce()
    },
    client: wait => sessionsOnce().open(wait),
    host,
  }
}
