// Validates option objects, because callers without types misspell names or pass wrong values. If that were ignored,
// the call would silently do something else.
// May import: runtime/clock.ts.
import { LONGEST_TIMER } from '../runtime/clock.ts'

/**
 * Returns what is wrong with a value, as the rest of a sentence that starts with the option's name. Returns undefined
 * if the value is valid.
 */
export type Check = (value: unknown) => string | undefined

/** One check for each option. */
export type Checks<O> = { readonly [K in keyof O]-?: Check }

/**
 * Returns a check whose message names the expected value. Of the actual value it shows only the type, because the value
 * may be a secret. It shows numbers in full.
 */
export const mustBe =
  (expected: string, is: (value: never) => boolean): Check =>
  value =>
    is(value as never) ? undefined : `must be ${expected}, not ${typeNameOf(value)}`

// The checks that connect() does not need are marked as pure, so that bundlers drop them.

export const aBoolean = mustBe('true or false', value => typeof value === 'boolean')
export const aFunction = mustBe('a function', value => typeof value === 'function')
export const aString = /* @__PURE__ */ mustBe('a string', value => typeof value === 'string')
/** A time in milliseconds that a timer can wait. */
export const aDelay = mustBe(
  `a number from 0 to ${LONGEST_TIMER}`,
  (ms: unknown) => typeof ms === 'number' && ms >= 0 && ms <= LONGEST_TIMER,
)
export const aPositiveInteger = /* @__PURE__ */ mustBe(
  'a positive integer',
  value => Number.isSafeInteger(value) && value >= 1,
)

/** Returns the type of a value for a message. Returns numbers in full, because they are never secret. */
function typeNameOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The options of a call without options. One object, so that it need not be checked. */
export const NO_OPTIONS = Object.freeze({})

/**
 * Returns why the options are invalid, or undefined if they are valid. An option that is undefined counts as left out.
 */
export function optionsProblem<O extends object>(options: unknown, checks: Checks<O>): string | undefined {
  if (options === NO_OPTIONS) return undefined
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return `options must be an object, not ${typeNameOf(options)}`
  const given = options as Readonly<Record<string, unknown>>
  for (const name in given) {
    const value = given[name]
    if (value === undefined) continue
    if (!Object.hasOwn(checks, name)) return unknownOption(name, Object.keys(checks))
    const problem = checks[name as keyof O](value)
    if (problem !== undefined) return `${name} ${problem}`
  }
  // An object of a class may have its options as getters, which the loop above does not see.
  if (Object.getPrototypeOf(options) !== Object.prototype)
    for (const name in checks) {
      const value = given[name]
      const problem = value === undefined ? undefined : checks[name](value)
      if (problem !== undefined) return `${name} ${problem}`
    }
  return undefined
}

/**
 * Returns the message for an unknown option. It names the most similar option if there is one, and lists all options if
 * there are few.
 */
function unknownOption(name: string, known: readonly string[]): string {
  const nearest = mostSimilar(name, known)
  const question = nearest === undefined ? '' : `; did you mean '${nearest}'?`
  const list = known.length > 0 && known.length <= LONGEST_LIST ? ` (the options are ${known.join(', ')})` : ''
  return `there is no option '${name}'${question}${list}`
}

const LONGEST_LIST = 8

/** Returns the known name that a misspelt one most likely means, or undefined if none is similar. */
export function mostSimilar(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map(each => ({ each, difference: difference(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, difference }) => difference <= Math.max(1, Math.max(name.length, each.length) * ALIKE))
    .sort((a, b) => a.difference - b.difference)
  return nearest?.each
}

/** Two names are similar if at most this part of their characters differs. */
const ALIKE = 0.4

/**
 * The number of characters to insert, delete, replace, or swap with the next one (optimal string alignment). A word that
 * is missing at the start or the end counts as one and a half, so that one wrong letter is nearer.
 */
function difference(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  const letters = distance(a, b)
  return short.length >= SHORTEST_WORD && long.includes(short) ? Math.min(letters, 1.5) : letters
}

const SHORTEST_WORD = 3

function distance(a: string, b: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}
