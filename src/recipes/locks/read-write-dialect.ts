// How readers and writers are named, so that each is known from the other.
import {
  sequenceAfter,
  dialects as exclusive,
  namesOf,
  SAMPLE,
  unsupported,
  type Dialect,
  type Names,
  type Naming,
} from '../queue/dialect.ts'

/** Both kinds stand in one directory. A writer's pattern matches no reader's name. */
export interface ReadWriteDialect {
  readonly read: Dialect
  readonly write: Dialect
}

/**
 * Whose names to use: those of Curator's InterProcessReadWriteLock, or of kazoo's ReadLock and WriteLock. kazoo's ReadLock, in 2.8.0 at least,
 * waits for writers behind it too, who wait for it (kazoo#649).
 */
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

/** Each side makes its own names and knows those of both. */
export interface ReadWriteNames {
  readonly read: Names
  readonly write: Names
  isWriter(name: string): boolean
}

/** @throws LockError UNSUPPORTED where nobody could find his own node by the pattern, or tell readers from writers */
export function readWriteNamesOf(dialect: ReadWriteDialectName | ReadWriteDialect, directory: string): ReadWriteNames {
  const both = typeof dialect === 'string' ? (dialects[dialect] as Pair | undefined) : dialect
  if (both === undefined)
    throw unsupported(directory, `there is no dialect ${dialect as string} of readers and writers`)
  const [read, write] = [namesOf(both.read, directory), namesOf(both.write, directory)]
  const isWriter = (name: string) => write.sequenceOf(name) !== undefined
  const reader = `${read.prefix(SAMPLE, 1n)}0000000007`
  if (isWriter(reader)) throw unsupported(directory, `the writers' pattern must not match the reader ${reader}`)
  const sequenceOf = (name: string) => write.sequenceOf(name) ?? read.sequenceOf(name)
  return { read: { ...read, sequenceOf }, write: { ...write, sequenceOf }, isWriter }
}
