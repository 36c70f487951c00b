// Decides what the owner of a ticket does next. Pure functions.
import type { Stat } from '../../protocol/index.ts'
import { matching, type Names } from '../queue/dialect.ts'
import { turnOf } from '../queue/turn.ts'

export const tickets: Names = { prefix: () => 't-', sequenceOf: matching(/^t-(-?\d{10})$/), areUnique: false }

/** Returns true for the name of a life's directory: a uuid. */
export const isLife = (name: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)

const digitsOf = (sequence: number) => String(sequence).padStart(10, '0')

export const ticketName = (sequence: number): string => `t-${digitsOf(sequence)}`

/** Returns the data to write into the directory when the holder of the lock releases this ticket. */
export const releasedAs = digitsOf

/** Returns the ticket that was released last, or undefined if the data does not name one. */
export function releasedIn(data: Buffer | null): number | undefined {
  const text = data?.toString() ?? ''
  return /^\d{10}$/.test(text) ? Number(text) : undefined
}

/**
 * Returns true if the Stat of the directory shows that as many children were deleted as there were before `own`. If no
 * ticket is ahead, the own one then existed at the moment of that Stat. The server counts creates, and shows as cversion
 * twice their number less the number of children (DataNode.copyStat).
 */
export const areOnlyEarlierGone = (own: number, { cversion, numChildren }: Stat): boolean =>
  cversion - numChildren === 2 * own

/**
 * The tickets ahead of a waiter. All other tickets ahead are known to be gone. Numbers only grow, so a ticket that is
 * gone never returns, and no ticket is added ahead.
 */
export interface Ahead {
  /** The nearest ticket that may exist. */
  readonly nearest: number
  /** The nearest one before it that may exist. Undefined if there is none: then `nearest` holds the lock, or gets it. */
  readonly second: number | undefined
}

/**
 * What a waiter knows of a ticket ahead. `pending`: its watch is being set, or it was changed and not deleted. `there`:
 * it exists. `left`: it was deleted while it was watched. `missing`: it did not exist when its watch was to be set.
 */
export type Seen = 'pending' | 'there' | 'left' | 'missing'

export type Step =
  /** Wait for the next change. */
  | { do: 'wait' }
  /** No ticket is ahead: it is our turn if our own ticket exists. */
  | { do: 'take' }
  /** The second ticket has left: read which ticket was released last. */
  | { do: 'read'; ahead: Ahead }
  /** The nearest ticket has left, and was never the head: wait for the second one. */
  | { do: 'pass'; ahead: Ahead }
  /** Only the list of all tickets can decide. */
  | { do: 'list' }

/**
 * Returns the tickets ahead of `own`, or undefined if there are none. The owner of a released ticket held the lock, so
 * all tickets before it were gone.
 */
export function aheadOf(own: number, released: number | undefined): Ahead | undefined {
  const nearest = previous(own, released)
  return nearest === undefined ? undefined : { nearest, second: previous(nearest, released) }
}

const previous = (ticket: number, released = -1): number | undefined => (ticket - 1 > released ? ticket - 1 : undefined)

/** Decides after a change of a watched ticket. */
export function onSeen(ahead: Ahead, seen: { nearest: Seen; second: Seen }, released: number | undefined): Step {
  const { second } = ahead
  if (isGone(seen.nearest)) {
    if (second === undefined) return { do: 'take' }
    if (seen.second !== 'there') return { do: 'list' }
    return { do: 'pass', ahead: { nearest: second, second: previous(second, released) } }
  }
  if (second === undefined || !isGone(seen.second)) return { do: 'wait' }
  return seen.second === 'left' ? { do: 'read', ahead } : { do: 'list' }
}

const isGone = (seen: Seen) => seen === 'left' || seen === 'missing'

/**
 * Returns the tickets ahead after the second one has left and the directory was read. If that ticket was not released,
 * it was cancelled or died, and other tickets may still be before it.
 */
export const onLeft = ({ nearest, second }: Ahead, released: number | undefined): Ahead => ({
  nearest,
  second: second === undefined || isUpTo(second, released) ? undefined : previous(second, released),
})

/** Returns the tickets ahead after the directory was read. */
export const onRead = ({ nearest, second }: Ahead, released: number | undefined): Ahead => ({
  nearest,
  second: second === undefined || isUpTo(second, released) ? undefined : second,
})

const isUpTo = (ticket: number, released: number | undefined) => released !== undefined && ticket <= released

/** Returns the tickets ahead in a list, `first` if there are none, and `gone` if our own ticket is not in the list. */
export function onListed(own: number, children: readonly string[]): Ahead | 'first' | 'gone' {
  const turn = turnOf(children, ticketName(own), tickets)
  if (turn.status !== 'waiting') return turn.status
  const numberOf = (name: string) => tickets.sequenceOf(name) ?? NaN
  return { nearest: numberOf(turn.predecessor), second: turn.second === undefined ? undefined : numberOf(turn.second) }
}
