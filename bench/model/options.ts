// The command line of `npm run bench:forecast`.
import { fileURLToPath } from 'node:url'
import { bytes } from '../output/figures.ts'
import { UsageError, valuesOf } from '../output/usage.ts'
import { CONDITIONS, MOST_SESSIONS, type Conditions } from './forecast.ts'

export interface ForecastOptions extends Conditions {
  /** The file of the result to which the model was fitted. */
  result: string
  /** Numbers of contenders. Undefined: ten times the largest number of the result. */
  sizes: number[] | undefined
}

const COMMITTED = fileURLToPath(new URL('../../docs/herd.json', import.meta.url))

export const help = `npm run bench:forecast -- [options]

Measures nothing. Says which lock to take, from how many contenders on a lock cannot keep
up, and what a release costs, with your own numbers. See bench/README.md.

  --result FILE            the result to which the model is fitted (docs/herd.json)
  --sessions N,N,...       numbers of contenders, up to a billion (default: ten times
                           the largest number of the result)
  --line-rate RATE         the server's line in bits a second: 100M, 10G (${bytes(CONDITIONS.lineRate)})
  --cores N                the cores that the server can use (${CONDITIONS.cores})
  --round-trip MS          between a client and the server (${CONDITIONS.roundTrip})
  --releases N             how often a second the lock is to be passed on (${CONDITIONS.releases})
  --help                   print this help
`

/** @throws UsageError if an option is unknown or its value is invalid */
export function parseOptions(args: readonly string[]): ForecastOptions | 'help' {
  const text = { type: 'string' } as const
  const options = {
    ...{ result: text, sessions: text, help: { type: 'boolean' } as const },
    ...{ 'line-rate': text, cores: text, 'round-trip': text, releases: text },
  }
  const values = valuesOf({ args: [...args], options })
  if (values.help === true) return 'help'
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
