// How contenders are named, so that clients of other libraries can share a lock.
import type { Check } from '../../options/checks.ts'

/**
 * Your own names of contenders, to share a lock with another library.
 * @example
 * const dialect: Dialect = { prefix: uuid => `${uuid}-job-`, pattern: /-job-(\d{10})$/ }
 * await using held = await new Mutex(zk, '/locks/orders', { dialect }).acquire()
 * held.path // => /-job-0000000000$/
 */
export interface Dialect {
  /**
   * The start of a contender's name; the server appends ten digits. If the name contains the uuid, which is new for
   * each `acquire` or `tryAcquire`, no other contender ever has that name. Otherwise the node's data begins with the
   * uuid, and `held.guard()` throws UNSUPPORTED.
   */
  readonly prefix: string | ((uuid: string, sessionId: bigint) => string)
  /**
   * Matches the names of contenders. The first group is the number; without a group, the last ten digits are the
   * number. Other names in the directory are ignored.
   */
  readonly pattern: RegExp
}

export type DialectName = 'curator' | 'kazoo' | 'zookeeper'

/** How one kind of contender is named: the start of its name, and how to read its number from a name. */
export interface Naming {
  readonly prefix: (uuid: string, sessionId: bigint) => string
  /** Returns a contender's number, or undefined if the name is not a contender's. */
  readonly sequenceOf: (name: string) => number | undefined
}

export const dialects: Readonly<Record<DialectName, Naming>> = {
  curator: { prefix: uuid => `_c_${uuid}-lock-`, sequenceOf: sequenceAfter('lock-') },
  kazoo: { prefix: uuid => `${uuid.replaceAll('-', '')}__lock__`, sequenceOf: sequenceAfter('__lock__') },
  zookeeper: { prefix: (_uuid, sessionId) => `x-${sessionId}-`, sequenceOf: matching(/^x--?[0-9a-f]+-(-?\d{10})$/) },
}

/** A uuid and a session id for trying a dialect. */
const SAMPLE = ['01234567-89ab-4cde-8f01-23456789abcd', 0x1000_2d5f_6a1e_0000n] as const
const withoutDashes = (text: string) => text.replaceAll('-', '')

/** A contender's name in this dialect, with the number 7. */
export const sampleName = ({ prefix }: Naming): string => `${prefix(...SAMPLE)}0000000007`

/** Names of readers in the read/write locks of Curator, kazoo and this package. */
const readerNames = [`_c_${SAMPLE[0]}-__READ__0000000007`, `${withoutDashes(SAMPLE[0])}__rlock__0000000007`]

/**
 * Returns true if the dialect also counts readers of a read/write lock as contenders. A downgrade creates a reader with
 * the number of the writer. So it lets a contender in before those that wait already.
 */
export function matchesReaders(dialect: DialectName | Dialect): boolean {
  const { sequenceOf } = namingOf(dialect)
  return readerNames.some(name => sequenceOf(name) !== undefined)
}

export const dialectCheck: Check = dialect =>
  typeof dialect === 'string' ? nameProblem(dialect, dialects) : dialectProblem(dialect)

/** Returns why the name is not one of the dialects, or undefined if it is one. */
export const nameProblem = (name: string, all: object): string | undefined =>
  Object.hasOwn(all, name) ? undefined : `must be ${Object.keys(all).join(', ')} or your own names, not '${name}'`

/**
 * Returns why the dialect cannot be used, or undefined if it can. The pattern must find the number in a name with the
 * prefix.
 */
export function dialectProblem(dialect: unknown): string | undefined {
  const { prefix, pattern } = (dialect ?? {}) as Partial<Dialect>
  if (!['string', 'function'].includes(typeof prefix) || typeof pattern?.exec !== 'function')
    return 'must have a prefix (a string or a function) and a pattern (a RegExp)'
  const naming = namingOf(dialect as Dialect)
  const sample = sampleName(naming)
  if (sample.includes('/')) return `must not have a / in its prefix: it creates names such as ${sample}`
  return naming.sequenceOf(sample) === 7 ? undefined : `has a pattern that does not find the number 7 in ${sample}`
}

/** Returns true if no two contenders ever have the same name, because each name contains a uuid. */
export const areUnique = (naming: Naming): boolean =>
  withoutDashes(sampleName(naming)).includes(withoutDashes(SAMPLE[0]))

/** @param dialect one that `dialectCheck` accepts */
export function namingOf(dialect: DialectName | Dialect | Naming): Naming {
  if (typeof dialect === 'string') return dialects[dialect]
  if ('sequenceOf' in dialect) return dialect
  const { prefix, pattern } = dialect
  return { prefix: typeof prefix === 'string' ? () => prefix : prefix, sequenceOf: matching(pattern) }
}

/**
 * Returns a function that reads the number from a name: the first group of the pattern, or the last ten digits if it
 * has no group.
 */
export function matching(pattern: RegExp): Naming['sequenceOf'] {
  // The flags g and y are removed, because a pattern that keeps its lastIndex would skip names.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  return name => {
    const match = stateless.exec(name)
    const digits = match === null ? undefined : (match[1] ?? /\d{10}$/.exec(name)?.[0])
    return digits === undefined ? undefined : Number(digits)
  }
}

/**
 * Returns a function that parses the server's suffix (`-?\d{10}$`) after `mark`, which must not end with a digit. It
 * does without a regular expression, because that took a sixth of the CPU time of a hand-over with 100 names.
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

/** Returns the dialect that gives contenders such names; undefined if none does. */
export const dialectOf = (name: string): DialectName | undefined =>
  (Object.keys(dialects) as DialectName[]).find(dialect => dialects[dialect].sequenceOf(name) !== undefined)

/** The names of contenders in known libraries. Contenders of a library wait only for names of the same library. */
const knownContenderNames: readonly RegExp[] = [
  /^_c_[0-9a-f-]{32,36}-(?:lock-|latch-|lease-|__READ__|__WRIT__)-?\d{10}$/,
  /^[0-9a-f]{32}__r?lock__-?\d{10}$/,
  /^x--?[0-9a-f]+--?\d{10}$/,
  /^t--?\d{10}$/,
]

/** Returns the contenders with names of other libraries or dialects. They and this lock do not wait for each other. */
export const foreignContendersIn = (children: readonly string[], own: Pick<Naming, 'sequenceOf'>): string[] =>
  children.filter(name => own.sequenceOf(name) === undefined && knownContenderNames.some(pattern => pattern.test(name)))
