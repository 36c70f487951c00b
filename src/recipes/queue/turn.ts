// Decides whose turn it is, from a list of children. Sends no request.
import type { Children } from '../node/children.ts'
import type { Node } from '../node/own-node.ts'
import type { Naming } from './dialect.ts'

export interface NumberedName {
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
export type Blocks = (earlier: NumberedName, later: NumberedName) => boolean

/** In an exclusive lock every earlier contender blocks the later ones. */
export const blocksAlways: Blocks = () => true

interface Rules {
  readonly names: Pick<Naming, 'sequenceOf'>
  readonly blocks: Blocks
}

/**
 * Returns the turn of `own` among the children of a lock's directory, which may be unordered and contain foreign names.
 * The sequence number decides; names decide between equal numbers, which Curator's read/write lock creates on purpose.
 *
 * A directory that is younger than the node was created again. A child with the name of our node then belongs to another
 * contender.
 * @param others receives the names that are not those of contenders
 */
export function turnOf(
  { children, directoryCzxid }: Children,
  own: Pick<Node, 'name' | 'czxid'>,
  { names, blocks }: Rules,
  others: string[] = [],
): Turn {
  const self = { name: own.name, sequence: names.sequenceOf(own.name) ?? NaN }
  let isPresent = false
  let nearest: NumberedName | undefined
  let second: NumberedName | undefined
  for (const name of children) {
    const sequence = names.sequenceOf(name)
    if (sequence === undefined) {
      others.push(name)
      continue
    }
    // Numbers first, because names are slices of one string, which are compared slowly.
    if (sequence > self.sequence || (second !== undefined && sequence < second.sequence)) continue
    if (sequence === self.sequence && name === own.name) {
      isPresent = own.czxid >= directoryCzxid
      continue
    }
    const other = { name, sequence }
    if (!isBefore(other, self) || !isAfter(other, second) || !blocks(other, self)) continue
    if (isAfter(other, nearest)) [nearest, second] = [other, nearest]
    else second = other
  }
  if (!isPresent) return { status: 'gone' }
  if (nearest === undefined) return { status: 'first' }
  return { status: 'waiting', predecessor: copyOf(nearest.name), second: second && copyOf(second.name) }
}

/** Returns how many of the contenders in a list block `own`. */
export function countBlocking({ children }: Children, own: Pick<Node, 'name'>, { names, blocks }: Rules): number {
  const self = { name: own.name, sequence: names.sequenceOf(own.name) ?? NaN }
  return children.filter(name => {
    const other = { name, sequence: names.sequenceOf(name) ?? NaN }
    return isBefore(other, self) && blocks(other, self)
  }).length
}

/** Copies a name out of a list, because in V8 a slice keeps the string of the whole reply in memory. */
const copyOf = (name: string): string => Buffer.from(name).toString()

const isAfter = (a: NumberedName, b: NumberedName | undefined): boolean => b === undefined || isBefore(b, a)

const isBefore = (a: NumberedName, b: NumberedName): boolean =>
  a.sequence < b.sequence || (a.sequence === b.sequence && a.name < b.name)
