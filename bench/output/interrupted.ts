// How a program ends: with its exit code, after a signal, or with an error in one line.
import { exitWithUsageError, UsageError } from './usage.ts'

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: keyof typeof EXIT_CODES) {
    super(`Interrupted by ${signal}`)
    this.exitCode = EXIT_CODES[signal]
  }
}

interface Program<O> {
  /** How the program is called, for the message about a wrong command line. */
  readonly command: string
  readonly help: string
  /** @throws UsageError if the command line is wrong */
  readonly parse: (args: readonly string[]) => O | 'help'
  /** Resolves with the exit code. Anything that is no number stands for 0. */
  readonly run: (options: O, stop: AbortController, args: readonly string[]) => Promise<unknown>
}

/**
 * Runs a program, or prints its help. The first signal aborts the work, which then closes its sessions and removes its
 * nodes. The second signal exits at once.
 */
export async function runProgram<O>({ command, help, parse, run }: Program<O>): Promise<void> {
  const stop = new AbortController()
  for (const signal of Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[])
    // Not `once`: environment/at-exit.ts ends this process on a signal that has no other listener.
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(EXIT_CODES[signal])
      stop.abort(new Interrupted(signal))
    })
  try {
    const args = process.argv.slice(2)
    const options = parse(args)
    if (options === 'help') {
      process.stdout.write(help)
      return
    }
    const exitCode = await run(options, stop, args)
    // After a successful run the process exits on its own. After a failure, sessions may still be trying to reconnect.
    if (typeof exitCode === 'number' && exitCode !== 0) process.exit(exitCode)
  } catch (thrown) {
    // An interrupted start may fail with any error, so report the interruption.
    const error: unknown = stop.signal.aborted ? stop.signal.reason : thrown
    if (error instanceof UsageError) exitWithUsageError(command, error)
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(error instanceof Interrupted ? error.exitCode : 1)
  }
}

/** Rejects at the first signal. For work that leaves nothing on a server, and so need not end itself. */
export const unlessStopped = <T>(work: Promise<T>, { signal }: AbortController): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  ])
