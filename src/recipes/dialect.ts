// How contenders are named, so that clients of other libraries stand in the same queue.

export interface Dialect {
  /** The name that is asked for; the server appends ten digits. The uuid finds a node whose create was never answered. */
  prefix(uuid: string): string
  /** Matches a contender's name, with its number as the first group. Other names in the directory are of no concern. */
  readonly pattern: RegExp
}

/** Which library's names to use. */
export type DialectName = 'curator' | 'kazoo'

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  curator: { prefix: uuid => `_c_${uuid}-lock-`, pattern: /^[^/]*lock-(-?\d{10})$/ },
  kazoo: { prefix: uuid => `${uuid.replaceAll('-', '')}__lock__`, pattern: /^[^/]*__lock__(-?\d{10})$/ },
}

/** A contender's number, or undefined where the name is no contender's. */
export function sequenceOf(name: string, { pattern }: Dialect): number | undefined {
  const digits = pattern.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * At its end the counter of a directory sticks, and numbers repeat (tried on 3.8.0): nobody can tell then whose turn it is, and
 * other libraries let several in at once.
 */
export const isExhausted = (sequence: number): boolean => sequence < 0 || sequence >= 0x7fff_ffff
