// How contenders are named, so that clients of other libraries stand in the same queue.
import { LockError } from './lock-error.ts'

export interface Dialect {
  /**
   * The name that is asked for; the server appends ten digits. With a fresh uuid in it, the name tells for ever whose node it is.
   * Without, the node's data has to: it begins with the uuid then, and `held.guard()` cannot be had.
   */
  readonly prefix: string | ((uuid: string, sessionId: bigint) => string)
  /** Matches a contender's name, with its number as the first group. Other names in the directory are of no concern. */
  readonly pattern: RegExp
}

/** Whose names to use: Curator's, kazoo's, or those of the recipes that come with ZooKeeper (WriteLock, and `zoo_lock` in C). */
export type DialectName = 'curator' | 'kazoo' | 'zookeeper'

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  curator: { prefix: uuid => `_c_${uuid}-lock-`, pattern: /^[^/]*lock-(-?\d{10})$/ },
  kazoo: { prefix: uuid => `${uuid.replaceAll('-', '')}__lock__`, pattern: /^[^/]*__lock__(-?\d{10})$/ },
  zookeeper: { prefix: (_uuid, sessionId) => `x-${sessionId}-`, pattern: /^x--?[0-9a-f]+-(-?\d{10})$/ },
}

/** Finds the number in a contender's name, as its first group. */
export type Pattern = Pick<RegExp, 'exec' | 'test'>

/** The dialect as the recipes use it. */
export interface Names {
  prefix(uuid: string, sessionId: bigint): string
  readonly pattern: Pattern
  /** A name is given once and never again, since it has a uuid in it. */
  readonly areUnique: boolean
}

const SAMPLE = '01234567-89ab-4cde-8f01-23456789abcd'
const withoutDashes = (text: string) => text.replaceAll('-', '')

/** @throws LockError UNSUPPORTED where nobody could find his own node by the pattern */
export function namesOf(dialect: DialectName | Dialect, directory: string): Names {
  const { prefix, pattern } = typeof dialect === 'string' ? dialects[dialect] : dialect
  const nameFor = typeof prefix === 'string' ? () => prefix : prefix
  // A pattern that remembers where it stood would pass over names.
  const names = { prefix: nameFor, pattern: new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')) }
  const sample = nameFor(SAMPLE, 0x1000_2d5f_6a1e_0000n)
  if (sample.includes('/') || sequenceOf(`${sample}0000000007`, names) !== 7) {
    const cause = new Error(
      `the pattern ${String(pattern)} must find the number in ${sample}0000000007, where no / may be`,
    )
    throw new LockError('UNSUPPORTED', directory, { cause })
  }
  return { ...names, areUnique: withoutDashes(sample).includes(withoutDashes(SAMPLE)) }
}

/** A contender's number, or undefined where the name is no contender's. A pattern without a group means the last ten digits. */
export function sequenceOf(name: string, { pattern }: { readonly pattern: Pattern }): number | undefined {
  const match = pattern.exec(name)
  const digits = match === null ? undefined : (match[1] ?? /\d{10}$/.exec(name)?.[0])
  return digits === undefined ? undefined : Number(digits)
}

/**
 * At its end the counter of a directory sticks, and numbers repeat (tried on 3.8.0): nobody can tell then whose turn it is, and
 * other libraries let several in at once.
 */
export const isExhausted = (sequence: number | undefined): boolean =>
  sequence === undefined || sequence < 0 || sequence >= 0x7fff_ffff

/** Names by which the libraries of the field queue; each goes by its own alone. */
const contendersOfTheField: readonly RegExp[] = [
  /^_c_[0-9a-f-]{32,36}-(?:lock-|latch-|lease-|__READ__|__WRIT__)-?\d{10}$/,
  /^[0-9a-f]{32}__r?lock__-?\d{10}$/,
  /^x--?[0-9a-f]+--?\d{10}$/,
  /^t--?\d{10}$/,
]

/** Those in the directory who queue by other rules: they do not see us, nor we them. */
export const strangersIn = (children: readonly string[], own: { readonly pattern: Pattern }): string[] =>
  children.filter(name => !own.pattern.test(name) && contendersOfTheField.some(pattern => pattern.test(name)))
