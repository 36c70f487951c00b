// Which contender is next: a pure decision.
import type { Names } from './dialect.ts'

export interface Contender {
  readonly name: string
  readonly sequence: number
}

export type Turn =
  /** No contender ahead blocks this one. */
  | { status: 'first' }
  /** The nearest contender ahead that blocks this one, whose turn cannot come before that one is removed. */
  | { status: 'waiting'; predecessor: string }
  /** This contender's node is not in the list. */
  | { status: 'gone' }

/** Returns true if the earlier contender must leave before the later one gets its turn. */
export type Blocks = (earlier: Contender, later: Contender) => boolean

/** In an exclusive lock every earlier contender blocks the later ones. */
export const blocksAlways: Blocks = () => true

/**
 * The position of `own` among the children of a lock's directory, which may be unordered and contain foreign names. The
 * sequence number decides; names decide between equal numbers, which Curator's read/write lock creates on purpose.
 */
export function turnOf(
  children: readonly string[],
  own: string,
  names: Pick<Names, 'sequenceOf'>,
  blocks: Blocks = blocksAlways,
): Turn {
  const self = { name: own, sequence: names.sequenceOf(own) ?? NaN }
  let isPresent = false
  let nearest: Contender | undefined
  for (const name of children) {
    if (name === own) {
      isPresent = true
      continue
    }
    const sequence = names.sequenceOf(name)
    if (sequence === undefined) continue
    const other = { name, sequence }
    if (isBefore(other, self) && (nearest === undefined || isBefore(nearest, other)) && blocks(other, self))
      nearest = other
  }
  if (!isPresent) return { status: 'gone' }
  return nearest === undefined ? { status: 'first' } : { status: 'waiting', predecessor: nearest.name }
}

const isBefore = (a: Contender, b: Contender): boolean =>
  a.sequence < b.sequence || (a.sequence === b.sequence && a.name < b.name)
