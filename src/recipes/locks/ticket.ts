// Decides what the owner of a ticket does next. Pure functions.
import type { Stat } from '../../protocol/index.ts'
import { sequenceAfter, type Naming } from '../queue/dialect.ts'
import type { Ahead } from '../queue/turn.ts'

const PREFIX = 't-'
const afterPrefix = sequenceAfter(PREFIX)

export const tickets: Naming = {
  prefix: () => PREFIX,
  // As `t-(-?\d{10})`, without a regular expression, because each hand-over reads a dozen names.
  sequenceOf: name => (name.length <= LONGEST && name.startsWith(PREFIX) ? afterPrefix(name) : undefined),
}
/** The length of a ticket's name with a negative number. */
const LONGEST = 13

/** Returns true for the name of a life's directory: a uuid. */
export const isLife = (name: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)

/** @param ticket the name of its node */
export const numberOf = (ticket: string): number => tickets.sequenceOf(ticket) ?? NaN

const digitsOf = (sequence: number) => String(sequence).padStart(10, '0')

export const ticketName = (sequence: number): string => `t-${digitsOf(sequence)}`

/** Returns the data to write into the directory when the holder of the lock releases this ticket. */
export const releasedAs = digitsOf

/** Returns the ticket that was released last, or -1 if the data does not name one. */
export function releasedIn(data: Buffer | null): number {
  const text = data?.toString() ?? ''
  return /^\d{10}$/.test(text) ? Number(text) : -1
}

/**
 * Returns true if the Stat of the directory shows that as many children were deleted as there were before `own`. If no
 * ticket is ahead, the own one then existed at the moment of that Stat. The server counts creates, and shows as cversion
 * twice their number less the number of children (DataNode.copyStat).
 */
export const areOnlyEarlierGone = (own: string, { cversion, numChildren }: Stat): boolean =>
  cversion - numChildren === 2 * numberOf(own)

/**
 * What a waiter knows of a ticket ahead. `there`: it exists, or the watch on it is being set. `left`: it was deleted
 * while it was watched. `missing`: it did not exist when its watch was to be set.
 */
export type TicketState = 'there' | 'left' | 'missing'

/** What a waiter knows of both tickets ahead. */
export type StatesAhead = Record<'predecessor' | 'second', TicketState>

/**
 * Returns the tickets ahead of `own` that may exist, or undefined if there are none. The owner of a released ticket held
 * the lock, so all tickets before it were gone. Numbers only grow, so a ticket that is gone never returns, and no ticket
 * is added ahead.
 */
export function aheadOf(own: string, released: number): Ahead | undefined {
  const predecessor = previous(own, released)
  return predecessor === undefined ? undefined : { predecessor, second: previous(predecessor, released) }
}

/** Returns the ticket before this one, or undefined if it was released or there is none. */
export function previous(ticket: string, released: number): string | undefined {
  const number = numberOf(ticket) - 1
  return number > released ? ticketName(number) : undefined
}

/**
 * Returns the ticket whose owner held the lock before the owner of `own`, if it held it at all. The tickets between both
 * were gone while that one was still there, so they never had their turn.
 * @param waitedFor the tickets for which `own` has waited last
 */
export const formerOf = (own: string, waitedFor: Ahead | undefined): number =>
  waitedFor === undefined ? numberOf(own) - 1 : numberOf(waitedFor.predecessor)

/**
 * Returns the largest number of tickets that can be ahead of `own`, by a read of the directory that follows its create.
 * Some may have been cancelled, and some of the children may be later ones.
 */
export const mostAhead = (own: string, released: number, { numChildren }: Stat): number =>
  Math.min(numberOf(own) - 1 - released, numChildren - 1)

/** Returns true if only the list of all tickets can show which ones are ahead now. */
export const needsList = ({ predecessor, second }: StatesAhead): boolean =>
  second === 'missing' || (predecessor !== 'there' && second !== 'there')

/**
 * Returns the tickets ahead after a change, or undefined if there are none.
 * @param released the ticket that was released last, read after the change; -1 if there is none
 */
export function aheadNow(ahead: Ahead, seen: StatesAhead, released: number): Ahead | undefined {
  const { predecessor, second } = ahead
  const isHead = second === undefined || numberOf(second) <= released
  if (isHead) return seen.predecessor === 'there' ? { predecessor } : undefined
  if (needsList(seen)) return ahead
  // The predecessor was never the head.
  if (seen.predecessor !== 'there') return { predecessor: second, second: previous(second, released) }
  // If the second ticket left without a release, it was cancelled or died. Other tickets may still be before it.
  return { predecessor, second: seen.second === 'left' ? previous(second, released) : second }
}
