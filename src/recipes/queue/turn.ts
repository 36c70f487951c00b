// Whose turn is it? The decision, without the doing.
import type { Names } from './dialect.ts'

export interface Contender {
  readonly name: string
  readonly sequence: number
}

export type Turn =
  /** Nobody is in the way. */
  | { is: 'turn' }
  /** The nearest of those in the way; nothing changes for us before it goes. */
  | { is: 'waiting'; behind: string }
  /** One's own node is not among them. */
  | { is: 'gone' }

/** Is the one that stands earlier in the way of the other? */
export type Blocks = (earlier: Contender, me: Contender) => boolean

/** In an exclusive lock, everybody earlier is in the way. */
export const everyone: Blocks = () => true

/**
 * Where `me` stands among the children of a lock's directory, in any order, foreign names among them. Numbers decide; equal
 * ones, which Curator's read/write lock makes on purpose, are told apart by name.
 */
export function turnOf(
  children: readonly string[],
  me: string,
  names: Pick<Names, 'sequenceOf'>,
  blocks: Blocks = everyone,
): Turn {
  const mine = { name: me, sequence: names.sequenceOf(me) ?? NaN }
  let present = false
  let nearest: Contender | undefined
  for (const name of children) {
    if (name === me) {
      present = true
      continue
    }
    const sequence = names.sequenceOf(name)
    if (sequence === undefined) continue
    const other = { name, sequence }
    if (isBefore(other, mine) && (nearest === undefined || isBefore(nearest, other)) && blocks(other, mine))
      nearest = other
  }
  if (!present) return { is: 'gone' }
  return nearest === undefined ? { is: 'turn' } : { is: 'waiting', behind: nearest.name }
}

const isBefore = (a: Contender, b: Contender): boolean =>
  a.sequence < b.sequence || (a.sequence === b.sequence && a.name < b.name)
