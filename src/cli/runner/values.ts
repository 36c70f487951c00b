// Reads the values of options and arguments.
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { LONGEST_TIMER } from '../../runtime/clock.ts'
import { UsageError } from './failure.ts'

/** Returns a number of seconds, or undefined if the option is not given. */
export function secondsOf(option: string, text: string | undefined, least = 0.001): number | undefined {
  if (text === undefined) return undefined
  const seconds = text.trim() === '' ? NaN : Number(text)
  if (seconds >= least && seconds * 1000 <= LONGEST_TIMER) return seconds
  throw new UsageError(
    `--${option}: ${JSON.stringify(text)} is not a number of seconds: write a number from ${least} on`,
  )
}

/** Returns a whole number, or undefined if the option is not given. */
export function wholeNumberOf(option: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const value = text.trim() === '' ? NaN : Number(text)
  if (Number.isSafeInteger(value) && value >= least && value <= 0x7fff_ffff) return value
  throw new UsageError(`--${option}: ${JSON.stringify(text)} is not a whole number of ${least} or more`)
}

/** Returns the data that an argument means: its own text, the bytes of @FILE, or those of stdin for `-`. */
export async function dataOf(text: string, stdin: NodeJS.ReadableStream): Promise<Buffer> {
  if (text === '-') return buffer(stdin)
  if (!text.startsWith('@')) return Buffer.from(text)
  if (text.startsWith('@@')) return Buffer.from(text.slice(1))
  try {
    return readFileSync(text.slice(1))
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string }
    throw new UsageError(`cannot read the file ${text.slice(1)} (${code}); for data that starts with @ write @@`)
  }
}

/** Reads the option --port. Undefined if it is not given. 0 is any free port. */
export function portOf(value: string | undefined): number | undefined {
  const port = wholeNumberOf('port', value, 0)
  if (port !== undefined && port > 65_535) throw new UsageError(`--port: ${port} is not a port`)
  return port
}
