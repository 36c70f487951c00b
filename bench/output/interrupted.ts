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

/**
 * Runs a program, whose work resolves with the exit code. The first signal aborts the work, which then closes its
 * sessions and removes its nodes. The second signal exits at once.
 * @param command how the program is called, for the message about a wrong command line
 */
export async function runProgram(command: string, work: (stop: AbortController) => Promise<number>): Promise<void> {
  const stop = new AbortController()
  for (const signal of Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[])
    // Not `once`: environment/at-exit.ts ends this process on a signal that has no other listener.
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(EXIT_CODES[signal])
      stop.abort(new Interrupted(signal))
    })
  try {
    const exitCode = await work(stop)
    // After a successful run the process exits on its own. After a failure, sessions may still be trying to reconnect.
    if (exitCode !== 0) process.exit(exitCode)
  } catch (thrown) {
    // An interrupted start may fail with any error, so report the interruption.
    const error: unknown = stop.signal.aborted ? stop.signal.reason : thrown
    if (error instanceof UsageError) exitWithUsageError(command, error)
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(error instanceof Interrupted ? error.exitCode : 1)
  }
}
