// Validates option objects, because callers without types misspell names or pass wrong values. If that were ignored,
// the call would silently do something else.

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

/** Returns the type of a value for a message. Returns numbers in full, because they are never secret. */
function typeNameOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * Returns why the options are invalid, or undefined if they are valid. An option that is undefined counts as left out.
 */
export function optionsProblem<O extends object>(options: unknown, checks: Checks<O>): string | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return `options must be an object, not ${typeNameOf(options)}`
  const given = options as Readonly<Record<string, unknown>>
  for (const name in given)
    if (!Object.hasOwn(checks, name) && given[name] !== undefined) return unknownOption(name, Object.keys(checks))
  // Goes by the names of the checks, because the options may be getters of a class, which are not enumerable.
  for (const name in checks) {
    const value = given[name]
    const problem = value === undefined ? undefined : checks[name](value)
    if (problem !== undefined) return `${name} ${problem}`
  }
  return undefined
}

/**
 * Returns the message for an unknown option. It names the most similar option, and lists all options if there are few.
 */
function unknownOption(name: string, known: readonly string[]): string {
  const [nearest, ...others] = bySimilarity(name, known)
  if (nearest === undefined) return `there is no option '${name}'`
  const list = others.length < LONGEST_LIST ? ` (the options are ${known.join(', ')})` : ''
  return `there is no option '${name}'; did you mean '${nearest}'?${list}`
}

const LONGEST_LIST = 8

/** Returns the known names, the most similar one first. */
export const bySimilarity = (name: string, known: readonly string[]): string[] =>
  known.toSorted((a, b) => difference(name, a) - difference(name, b))

/** A name that contains the other one counts as nearer than any name that merely shares letters with it. */
function difference(name: string, known: string): number {
  const [a, b] = [name.toLowerCase(), known.toLowerCase()]
  return distance(a, b) - (a.includes(b) || b.includes(a) ? NEARER : 0)
}

const NEARER = 100

/** The Levenshtein distance: the number of characters to insert, delete or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    row = next
  }
  return row.at(-1) ?? 0
}
