// Why options cannot be accepted. Untyped callers misspell names and pass other things in their place; ignored, either
// would silently do something else.

/** Completes "<option> ..." if a value cannot be used, or returns undefined. */
export type Check = (value: unknown) => string | undefined

/** A check for each option that exists. */
export type Checks<O> = { readonly [K in keyof O]-?: Check }

/** A check that names what is expected. It shows only the type of a value, which may be a secret. */
export const mustBe =
  <T>(expected: string, is: (value: T) => boolean): Check =>
  value =>
    is(value as T) ? undefined : `must be ${expected}, not ${typeNameOf(value)}`

/** Numbers are shown, since no secret is one. */
function typeNameOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * Why the options cannot be accepted, or undefined. An option whose value is undefined counts as left out.
 */
export function optionsProblem<O extends object>(options: unknown, checks: Checks<O>): string | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return `options must be an object, not ${typeNameOf(options)}`
  const given = options as Readonly<Record<string, unknown>>
  for (const name in given)
    if (!Object.hasOwn(checks, name) && given[name] !== undefined) return unknownOption(name, Object.keys(checks))
  // By the names of the checks, because the options may be getters of a class, which are not enumerable.
  for (const name in checks) {
    const value = given[name]
    const problem = value === undefined ? undefined : checks[name](value)
    if (problem !== undefined) return `${name} ${problem}`
  }
  return undefined
}

/** Names the option that does not exist, the nearest one that does, and all if they are few. */
function unknownOption(name: string, known: readonly string[]): string {
  const [nearest, ...others] = known.toSorted((a, b) => distance(name, a) - distance(name, b))
  if (nearest === undefined) return `there is no option '${name}'`
  const list = others.length < FEW ? ` (the options are ${known.join(', ')})` : ''
  return `there is no option '${name}'; did you mean '${nearest}'?${list}`
}

const FEW = 8

/** How many characters have to be inserted, deleted or replaced (Levenshtein). Upper and lower case count as equal. */
function distance(from: string, to: string): number {
  const [a, b] = [from.toLowerCase(), to.toLowerCase()]
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    row = next
  }
  return row.at(-1) ?? 0
}
