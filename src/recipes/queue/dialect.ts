// How contenders are named, so that clients of other libraries stand in the same queue.
import { LockError } from '../node/lock-error.ts'

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

/** The names of one kind of contender: what is asked for, and how its number is found in a name. */
export interface Naming {
  readonly prefix: (uuid: string, sessionId: bigint) => string
  /** A contender's number, or undefined where the name is no contender's. */
  readonly sequenceOf: (name: string) => number | undefined
}

export const dialects: Readonly<Record<DialectName, Naming>> = {
  curator: { prefix: uuid => `_c_${uuid}-lock-`, sequenceOf: sequenceAfter('lock-') },
  kazoo: { prefix: uuid => `${uuid.replaceAll('-', '')}__lock__`, sequenceOf: sequenceAfter('__lock__') },
  zookeeper: { prefix: (_uuid, sessionId) => `x-${sessionId}-`, sequenceOf: matching(/^x--?[0-9a-f]+-(-?\d{10})$/) },
}

/** The dialect as the recipes use it. */
export interface Names extends Naming {
  /** A name is given once and never again, since it has a uuid in it. */
  readonly areUnique: boolean
}

/** For trying a pattern. */
export const SAMPLE = '01234567-89ab-4cde-8f01-23456789abcd'
const withoutDashes = (text: string) => text.replaceAll('-', '')

/** @throws LockError UNSUPPORTED where there is no such dialect, or nobody could find his own node by the pattern */
export function namesOf(dialect: DialectName | Dialect | Naming, directory: string): Names {
  const naming = namingOf(dialect)
  if (naming === undefined) throw unsupported(directory, `there is no dialect ${dialect as string}`)
  const { prefix, sequenceOf } = naming
  const sample = prefix(SAMPLE, 0x1000_2d5f_6a1e_0000n)
  if (sample.includes('/') || sequenceOf(`${sample}0000000007`) !== 7)
    throw unsupported(directory, `a contender's number must be found in ${sample}0000000007, where no / may be`)
  return { prefix, sequenceOf, areUnique: withoutDashes(sample).includes(withoutDashes(SAMPLE)) }
}

export const unsupported = (directory: string, detail: string): LockError =>
  new LockError('UNSUPPORTED', directory, { cause: new Error(detail) })

/** Undefined where there is none of that name. */
function namingOf(dialect: DialectName | Dialect | Naming): Naming | undefined {
  if (typeof dialect === 'string') return dialects[dialect]
  if ('sequenceOf' in dialect) return dialect
  const { prefix, pattern } = dialect
  return { prefix: typeof prefix === 'string' ? () => prefix : prefix, sequenceOf: matching(pattern) }
}

/** The number is the first group, or the last ten digits where there is none. */
export function matching(pattern: RegExp): Naming['sequenceOf'] {
  // A pattern that remembers where it stood would pass over names.
  const forgetful = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  return name => {
    const match = forgetful.exec(name)
    const digits = match === null ? undefined : (match[1] ?? /\d{10}$/.exec(name)?.[0])
    return digits === undefined ? undefined : Number(digits)
  }
}

/**
 * The number is that which the server appends, ten digits or a minus and ten, behind a mark that does not end with a digit: as
 * `-?\d{10}$` has it, but a list of a hundred names is read at each hand-over of a lock, and patterns were a sixth of its processor time.
 */
export function sequenceAfter(mark: string): Naming['sequenceOf'] {
  return name => {
    const start = name.length - 10
    let sequence = 0
    for (let i = start; i < name.length; i++) {
      const digit = name.charCodeAt(i) - ZERO
      if (!(digit >= 0 && digit <= 9)) return undefined
      sequence = 10 * sequence + digit
    }
    if (name.startsWith(mark, start - mark.length)) return sequence
    const isNegative = name.charCodeAt(start - 1) === MINUS && name.startsWith(mark, start - 1 - mark.length)
    return isNegative ? -sequence : undefined
  }
}

const ZERO = 0x30
const MINUS = 0x2d

/**
 * At its end the counter of a directory sticks, and numbers repeat (tried on 3.8.0): nobody can tell then whose turn it is, and
 * other libraries let several in at once.
 */
export const isExhausted = (sequence: number | undefined): boolean =>
  sequence === undefined || sequence < 0 || sequence >= 0x7fff_ffff

/** Names by which the libraries of the field queue; each goes by its own alone. */
const knownContenderNames: readonly RegExp[] = [
  /^_c_[0-9a-f-]{32,36}-(?:lock-|latch-|lease-|__READ__|__WRIT__)-?\d{10}$/,
  /^[0-9a-f]{32}__r?lock__-?\d{10}$/,
  /^x--?[0-9a-f]+--?\d{10}$/,
  /^t--?\d{10}$/,
]

/** Those in the directory who queue by other rules: they do not see us, nor we them. */
export const foreignContendersIn = (children: readonly string[], own: Pick<Naming, 'sequenceOf'>): string[] =>
  children.filter(name => own.sequenceOf(name) === undefined && knownContenderNames.some(pattern => pattern.test(name)))
