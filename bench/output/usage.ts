// A command line that makes no sense, and what is said of it: one line, and not where in the program that was found.
import { parseArgs, type ParseArgsConfig } from 'node:util'

export class UsageError extends Error {}

/**
 * The values of the options.
 * @throws UsageError
 */
export function valuesOf<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>>['values'] {
  try {
    return parseArgs(config).values
  } catch (error) {
    // Behind the first sentence, Node tells how to pass what is not wanted here.
    throw new UsageError((error as Error).message.split(/\.\s|\n/)[0])
  }
}

/** What this process was asked for. Where that makes no sense the process ends. */
export function asked<T>(command: string, parse: (args: readonly string[]) => T): T {
  try {
    return parse(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return refuse(command, error)
  }
}

/** Ends the process. */
export function refuse(command: string, { message }: UsageError): never {
  process.stderr.write(`${message} (${command} -- --help tells more)\n`)
  process.exit(2)
}
