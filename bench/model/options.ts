// The command line of `npm start -- --predict`.
import { fileURLToPath } from 'node:url'
import { UsageError, valuesOf } from '../output/usage.ts'
import { CONDITIONS, MOST_SESSIONS, type Conditions } from './forecast.ts'

export interface PredictOptions extends Conditions {
  /** The file of the result to which the model was fitted. */
  result: string
  /** Numbers of contenders. Undefined: ten times the largest number of the result. */
  sizes: number[] | undefined
}

const COMMITTED = fileURLToPath(new URL('../../docs/herd.json', import.meta.url))

/** @throws UsageError if an option is unknown or its value is invalid */
export function parsePredictOptions(args: readonly string[]): PredictOptions {
  const text = { type: 'string' } as const
  const options = {
    ...{ predict: { type: 'boolean' } as const, result: text, sessions: text },
    ...{ 'line-rate': text, cores: text, 'round-trip': text, releases: text },
  }
  const values = valuesOf({ args: [...args], options })
  return {
    result: values.result ?? COMMITTED,
    sizes: values.sessions?.split(',').map(each => sizeOf(each, values.sessions ?? '')),
    lineRate: values['line-rate'] === undefined ? CONDITIONS.lineRate : rateOf(values['line-rate']),
    cores: positive('cores', values.cores, CONDITIONS.cores),
    roundTrip: positive('round-trip', values['round-trip'], CONDITIONS.roundTrip),
    releases: positive('releases', values.releases, CONDITIONS.releases),
  }
}

function sizeOf(text: string, all: string): number {
  const size = Number(text.trim() || NaN)
  if (Number.isInteger(size) && size >= 2 && size <= MOST_SESSIONS) return size
  throw new UsageError(
    `--sessions: ${JSON.stringify(all)} is not a list of whole numbers from 2 to ${MOST_SESSIONS.toFixed(0)}`,
  )
}

const UNITS: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, G: 1e9 }

/** Returns bits a second. */
function rateOf(text: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)([kMG])$/.exec(text) ?? []
  const rate = Number(digits) * (UNITS[unit] ?? NaN)
  if (rate > 0) return rate
  throw new UsageError(`--line-rate: ${JSON.stringify(text)} is not a rate in bits a second, such as 100M or 10G`)
}

function positive(name: string, text: string | undefined, standard: number): number {
  if (text === undefined) return standard
  const value = Number(text.trim() || NaN)
  if (value > 0 && value < Infinity) return value
  throw new UsageError(`--${name}: ${JSON.stringify(text)} is not a number above 0`)
}
