// A shell: it runs one command line after another in one session. This folder holds its parts.
// May import: cli/runner, client/index.ts, protocol/index.ts, runtime.
import { Readable, Writable } from 'node:stream'
import { untilAborted } from '../../runtime/abort.ts'
import type { Command, CommandTable, Host } from '../runner/command.ts'
import { messageOf, statuses, statusOf, unknownCommand, UsageError } from '../runner/failure.ts'
import { runCommand } from '../runner/run.ts'
import { Signals } from '../runner/signals.ts'
import { builtinsOf } from './builtins.ts'
import { resolvePath } from './node-path.ts'
import type { ShellSession } from './shell-session.ts'
import { wordsOf } from './words.ts'

/** Commands that make no sense within a shell. */
const OUTSIDE: readonly string[] = ['shell', 'completion']

/** A command that runs in the background. */
interface Job {
  readonly text: string
  readonly signals: Signals
}

export class Shell {
  readonly #host: Host
  readonly session: ShellSession
  readonly #jobs = new Map<number, Job>()
  #lastJob = 0
  /** The signals of the command that runs in the foreground. */
  #running: Signals | undefined
  /** The current node. */
  current = '/'
  #isEnding = false
  readonly commands: CommandTable

  readonly #print: (text: string) => void

  /**
   * @param host gives the streams of the commands
   * @param print prints whole lines of a command in the background
   */
  constructor(
    host: Pick<Host, 'stdout' | 'stderr' | 'env' | 'clock' | 'commands' | 'programStdin'>,
    session: ShellSession,
    print: (text: string) => void,
  ) {
    this.session = session
    this.#print = print
    this.commands = new Map([...host.commands, ...builtinsOf(this)].filter(([name]) => !OUTSIDE.includes(name)))
    this.#host = {
      ...host,
      // The terminal belongs to the shell, and a script is no input of its commands.
      stdin: Readable.from([]),
      signals: new Signals(),
      commands: this.commands,
      hasConnectionOptions: false,
      sessions: () => session,
      resolve: text => resolvePath(this.current, text),
    }
  }

  /** True after `exit`. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** The commands that run in the background, by their numbers. */
  get jobs(): ReadonlyMap<number, string> {
    return new Map([...this.#jobs].map(([number, { text }]) => [number, text]))
  }

  end(): void {
    this.#isEnding = true
  }

  /** Runs one line. Prints one line if it fails. Returns its exit status, and undefined if the line is empty. */
  async execute(line: string): Promise<number | undefined> {
    try {
      const { words, openQuote } = wordsOf(line)
      if (openQuote !== undefined) throw new UsageError(`the quote ${openQuote} has no end`)
      const [name, ...args] = words.map(({ text }) => text)
      if (name === undefined) return undefined
      const load = this.commands.get(name)
      if (load === undefined) throw unknownCommand(name, this.commands.keys())
      return await this.#run(await load(), args)
    } catch (error) {
      this.#host.stderr.write(`zkwire: ${messageOf(error) ?? 'interrupted'}\n`)
      return statusOf(error)
    }
  }

  /** Hands a signal to the command that runs. Returns false if there is none. */
  deliver(name: NodeJS.Signals): boolean {
    this.#running?.deliver(name)
    return this.#running !== undefined
  }

  /** Runs a command in the background. @returns its number */
  start(command: Command, args: readonly string[], text: string): number {
    const number = ++this.#lastJob
    const signals = new Signals()
    this.#jobs.set(number, { text, signals })
    const stdout = linesTo(text => this.#print(text), `[${number}] `)
    void runCommand(command, args, { ...this.#host, signals, stdout, stderr: stdout }).then(() =>
      this.#jobs.delete(number),
    )
    return number
  }

  /** Ends a command of the background. Returns false if there is none of that number. */
  stop(number: number): boolean {
    const job = this.#jobs.get(number)
    job?.signals.deliver('SIGINT')
    return job !== undefined
  }

  /** Ends the commands of the background, and closes the session. */
  async close(): Promise<void> {
    for (const number of this.#jobs.keys()) this.stop(number)
    await this.session.close()
  }

  async #run(command: Command, args: readonly string[]): Promise<number> {
    const signals = new Signals()
    this.#running = signals
    try {
      return await runCommand(command, args, { ...this.#host, signals })
    } finally {
      this.#running = undefined
    }
  }
}

/** Runs the lines of a script. Returns the status of the first that fails, and then runs no further one. */
export async function runScript(
  shell: Shell,
  lines: AsyncIterable<string>,
  { keepGoing, signal }: { keepGoing: boolean; signal: AbortSignal },
): Promise<number> {
  let first: number = statuses.ok
  const iterator = lines[Symbol.asyncIterator]()
  for (;;) {
    const next = await untilAborted(iterator.next(), signal)
    if (next.done === true) return first
    const status = (await shell.execute(next.value)) ?? statuses.ok
    signal.throwIfAborted()
    if (first === statuses.ok) first = status
    if ((status !== statuses.ok && !keepGoing) || shell.isEnding) return first
  }
}

/** Passes on whole lines, each with a label. */
function linesTo(print: (text: string) => void, label: string): Writable {
  let rest = ''
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, callback) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) print(lines.map(line => `${label}${line}\n`).join(''))
      callback()
    },
  })
}
