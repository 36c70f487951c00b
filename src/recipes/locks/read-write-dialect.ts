// The names of readers and writers, which distinguish them.
import type { Check } from '../../options/checks.ts'
import {
  sequenceAfter,
  dialects as exclusive,
  dialectProblem,
  nameProblem,
  namingOf,
  sampleName,
  type Dialect,
  type Naming,
} from '../queue/dialect.ts'

/**
 * Your own names of readers and writers, which share a directory. The writers' pattern must match no reader's name.
 * @example
 * const dialect: ReadWriteDialect = {
 *   read: { prefix: uuid => `${uuid}-read-`, pattern: /-read-(\d{10})$/ },
 *   write: { prefix: uuid => `${uuid}-write-`, pattern: /-write-(\d{10})$/ },
 * }
 * await using held = await new ReadWriteLock(zk, '/locks/orders', { dialect }).readLock.acquire()
 * held.path // => /-read-0000000000$/
 */
export interface ReadWriteDialect {
  /** The names of the nodes that read. */
  readonly read: Dialect
  /** The names of the nodes that write. */
  readonly write: Dialect
}

export type ReadWriteDialectName = 'curator' | 'kazoo'

interface Pair {
  read: Naming
  write: Naming
}

const dialects: Readonly<Record<ReadWriteDialectName, Pair>> = {
  curator: {
    read: { prefix: uuid => `_c_${uuid}-__READ__`, sequenceOf: sequenceAfter('__READ__') },
    write: { prefix: uuid => `_c_${uuid}-__WRIT__`, sequenceOf: sequenceAfter('__WRIT__') },
  },
  kazoo: {
    read: { prefix: uuid => `${uuid.replaceAll('-', '')}__rlock__`, sequenceOf: sequenceAfter('__rlock__') },
    write: exclusive.kazoo,
  },
}

/** Each side creates its own names and reads those of both. */
export interface ReadWriteNames {
  readonly read: Naming
  readonly write: Naming
  isWriter(name: string): boolean
}

export const readWriteDialectCheck: Check = dialect => {
  if (typeof dialect === 'string') return nameProblem(dialect, dialects)
  const { read, write } = (dialect ?? {}) as Partial<ReadWriteDialect>
  const problem = sideProblem('read', read) ?? sideProblem('write', write)
  if (problem !== undefined) return problem
  const reader = sampleName(namingOf(read as Dialect))
  const isReader = namingOf(write as Dialect).sequenceOf(reader) === undefined
  return isReader ? undefined : `cannot be used: the pattern of writers matches the reader ${reader}`
}

function sideProblem(side: string, dialect: unknown): string | undefined {
  const problem = dialectProblem(dialect)
  return problem === undefined ? undefined : `cannot be used: ${side} ${problem}`
}

/** @param dialect one that `readWriteDialectCheck` accepts */
export function readWriteNamesOf(dialect: ReadWriteDialectName | ReadWriteDialect): ReadWriteNames {
  const both = typeof dialect === 'string' ? dialects[dialect] : dialect
  const [read, write] = [namingOf(both.read), namingOf(both.write)]
  const isWriter = (name: string) => write.sequenceOf(name) !== undefined
  const sequenceOf = (name: string) => write.sequenceOf(name) ?? read.sequenceOf(name)
  return { read: { ...read, sequenceOf }, write: { ...write, sequenceOf }, isWriter }
}
