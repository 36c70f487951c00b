// The reader's own numbers: the fields of the report's form, and the options of `npm run bench -- forecast`. Pure, and free of
// modules of Node.js, because the report's page uses it too.
import { CONDITIONS, MOST_SESSIONS, type Conditions } from './forecast.ts'

export interface Field {
  name: 'contenders' | keyof Conditions
  /** The name of the option without its dashes. */
  option: string
  label: string
  min: number
  max: number
  /** How many units of {@link Conditions} one unit of the field is. */
  unit: number
  /** True if only whole numbers are accepted. */
  isWhole: boolean
  /** True if the form shows the field at once. */
  isMain: boolean
}

const MEGABIT = 1e6

const number = { unit: 1, isWhole: false, isMain: false }

export const FIELDS: readonly Field[] = [
  {
    ...{ ...number, name: 'contenders', option: 'contenders', label: 'contenders', min: 2, max: MOST_SESSIONS },
    ...{ isWhole: true, isMain: true },
  },
  { ...number, name: 'hold', option: 'hold', label: 'each holds the lock for, ms', min: 0.001, max: 1e9, isMain: true },
  {
    ...number,
    name: 'roundTrip',
    option: 'round-trip',
    label: 'round trip, ms',
    min: 0.001,
    max: 60_000,
    isMain: true,
  },
  { ...number, name: 'servers', option: 'servers', label: 'servers', min: 1, max: 99, isWhole: true },
  { ...number, name: 'cores', option: 'cores', label: 'cores of each server', min: 0.1, max: 1024 },
  {
    ...{ ...number, name: 'lineRate', option: 'line', label: 'line of each server, Mbit/s' },
    ...{ min: 0.001, max: 1e7, unit: MEGABIT },
  },
]

/** Returns why a field does not accept the number, or undefined if it does. */
export function fieldProblem({ min, max, isWhole }: Field, value: number): string | undefined {
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return undefined
  return `${isWhole ? 'a whole number' : 'a number'} from ${min} to ${max}`
}

/** The numbers of a reader who gives none, in the units of the fields. */
export const standardOf = ({ name, unit }: Field, contenders: number): number =>
  name === 'contenders' ? contenders : CONDITIONS[name] / unit

/** Returns the conditions for values in the units of the fields. */
export function conditionsOf(valueOf: (field: Field) => number): { contenders: number; conditions: Conditions } {
  const { contenders = NaN, ...conditions } = Object.fromEntries(
    FIELDS.map(field => [field.name, valueOf(field) * field.unit]),
  )
  return { contenders, conditions: { ...CONDITIONS, ...conditions } }
}
