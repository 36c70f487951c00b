// The command line of `npm run bench -- forecast`.
import { fileURLToPath } from 'node:url'
import { parsed, UsageError } from '../output/usage.ts'
import { LOCK_NAMES, USUAL_LOCK } from './advice.ts'
import { conditionsOf, fieldProblem, FIELDS, standardOf, type Field } from './fields.ts'
import type { Conditions } from './forecast.ts'

export interface ForecastOptions {
  /** The file of the result to which the model is fitted. */
  result: string
  /** The reader's lock, one of {@link LOCK_NAMES}. */
  lock: string
  contenders: number
  conditions: Conditions
}

const COMMITTED = fileURLToPath(new URL('../../docs/herd.json', import.meta.url))
const CONTENDERS = 1000

const fieldHelp = FIELDS.map(field => {
  const standard = standardOf(field, CONTENDERS)
  return `  ${`--${field.option} N`.padEnd(22)} ${field.label} (${standard})\n`
}).join('')

export const help = `npm run bench -- forecast [LOCK] [options]

Is my herd a problem? Says at which number of contenders your lock breaks, and which one
to take. A lock breaks if passing it on takes longer than a client holds it. Measures
nothing: the figures are those of an earlier run. See bench/README.md.

  LOCK                   ${LOCK_NAMES.slice(0, 3).join(', ')},
                         ${LOCK_NAMES.slice(3).join(' or ')} (${USUAL_LOCK})
${fieldHelp}  --result FILE          the result of npm start with the figures (docs/herd.json)
  --help                 print this help
`

/** @throws UsageError if an option is unknown or its value is invalid */
export function parseOptions(args: readonly string[]): ForecastOptions | 'help' {
  const text = { type: 'string' } as const
  const options = {
    ...{ result: text, help: { type: 'boolean' } as const },
    ...Object.fromEntries(FIELDS.map(({ option }) => [option, text])),
  }
  const { values, positionals } = parsed({ args: [...args], options, allowPositionals: true })
  if (values.help === true) return 'help'
  const lock = positionals.join(' ') || USUAL_LOCK
  if (!LOCK_NAMES.includes(lock))
    throw new UsageError(`${JSON.stringify(lock)} is not a lock that was measured: ${LOCK_NAMES.join(', ')}`)
  const given: Readonly<Record<string, string | boolean | undefined>> = values
  const valueOf = (field: Field) => numberOf(field, given[field.option])
  return { result: values.result ?? COMMITTED, lock, ...conditionsOf(valueOf) }
}

function numberOf(field: Field, text: string | boolean | undefined): number {
  if (typeof text !== 'string') return standardOf(field, CONTENDERS)
  const value = Number(text.trim() || NaN)
  const problem = fieldProblem(field, value)
  if (problem === undefined) return value
  throw new UsageError(`--${field.option}: ${JSON.stringify(text)} is not ${problem}`)
}
