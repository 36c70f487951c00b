// Decides whose turn it is, from a list of children. Pure functions.
import type { Names } from './dialect.ts'

export interface Contender {
  readonly name: string
  readonly sequence: number
}

/** The names of the contenders ahead that block one contender. */
export interface Ahead {
  /** The nearest of them. The contender must wait until that node is deleted. */
  readonly predecessor: string
  /** The nearest of them before the predecessor; undefined if only the predecessor blocks the contender. */
  readonly second?: string | undefined
}

export type Turn =
  /** No contender ahead blocks this one. */
  | { status: 'first' }
  | ({ status: 'waiting' } & Ahead)
  /** This contender's node is not in the list. */
  | { status: 'gone' }

/** Returns true if the later contender must wait until the earlier one's node is deleted. */
export type Blocks = (earlier: Contender, later: Contender) => boolean

/** In an exclusive lock every earlier contender blocks the later ones. */
export const blocksAlways: Blocks = () => true

/**
 * Returns the turn of `own` among the children of a lock's directory, which may be unordered and contain foreign names.
 * The sequence number decides; names decide between equal numbers, which Curator's read/write lock creates on purpose.
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
  let second: Contender | undefined
  for (const name of children) {
    if (name === own) {
      isPresent = true
      continue
    }
    const sequence = names.sequenceOf(name)
    if (sequence === undefined) continue
    const other = { name, sequence }
    if (!isBefore(other, self) || !isAfter(other, second) || !blocks(other, self)) continue
    if (isAfter(other, nearest)) [nearest, second] = [other, nearest]
    else second = other
  }
  if (!isPresent) return { status: 'gone' }
  if (nearest === undefined) return { status: 'first' }
  return { status: 'waiting', predecessor: nearest.name, second: second?.name }
}

const isAfter = (a: Contender, b: Contender | undefined): boolean => b === undefined || isBefore(b, a)

const isBefore = (a: Contender, b: Contender): boolean =>
  a.sequence < b.sequence || (a.sequence === b.sequence && a.name < b.name)
