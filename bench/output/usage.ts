// Command lines: parsing them, and reporting a wrong one in a single line without a stack trace.
import { parseArgs, type ParseArgsConfig } from 'node:util'

export class UsageError extends Error {}

/**
 * Returns the values of the options, and the other arguments.
 * @throws UsageError if an option is unknown, or its value is missing
 */
export function parsed<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    // Keep the first sentence only: Node adds advice on passing such arguments as positional ones.
    throw new UsageError((error as Error).message.split(/\.\s|\n/)[0])
  }
}

/** Returns the values of the options, as {@link parsed}. */
export const valuesOf = <T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>>['values'] =>
  parsed(config).values

/** Prints the message and exits with 2. */
export function exitWithUsageError(command: string, { message }: UsageError): never {
  process.stderr.write(`${message} (see ${command}${command.includes(' -- ') ? '' : ' --'} --help)\n`)
  process.exit(2)
}

/** @throws UsageError that names the option, if its text is not a whole number of 1 or more */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new UsageError(`--${option}: ${JSON.stringify(text)} is not a whole number of 1 or more`)
}

/**
 * Returns numbers of sessions, ascending and each once.
 * @throws UsageError if the text is no list of them
 */
export function sizesOf(text: string): number[] {
  const sizes = new Set(text.split(',').map(each => Number(each.trim() || NaN)))
  for (const size of sizes)
    if (!Number.isInteger(size) || size < 2)
      throw new UsageError(`--sessions: ${JSON.stringify(text)} is not a list of whole numbers of 2 or more`)
  return [...sizes].sort((a, b) => a - b)
}

/** Returns a check for {@link numberOf}. */
export const isWhole = (min: number, max: number) => (value: number) =>
  Number.isInteger(value) && value >= min && value <= max

/** @throws UsageError that names the option, if its text is no number, or not a good one */
export function numberOf(name: string, text: string, isGood: (value: number) => boolean): number {
  const value = Number(text.trim() || NaN)
  if (isGood(value)) return value
  throw new UsageError(`--${name}: ${JSON.stringify(text)} is not valid`)
}
