// What the holder of a ticket does next: pure decisions.
import { matching, type Names } from '../queue/dialect.ts'
import { turnOf } from '../queue/turn.ts'

export const tickets: Names = { prefix: () => 't-', sequenceOf: matching(/^t-(-?\d{10})$/), areUnique: false }

const digitsOf = (sequence: number) => String(sequence).padStart(10, '0')

export const ticketName = (sequence: number): string => `t-${digitsOf(sequence)}`

/** The directory's data after the release of this ticket, if its owner held the lock. */
export const releasedAs = digitsOf

/** Returns the ticket that was released last, or undefined if the data does not name one. */
export function releasedIn(data: Buffer | null): number | undefined {
  const text = data?.toString() ?? ''
  return /^\d{10}$/.test(text) ? Number(text) : undefined
}

export type Next =
  | { do: 'hold' }
  /** Wait until this ticket is removed. */
  | { do: 'watch'; ticket: number }
  /** Only the list of all tickets can decide. */
  | { do: 'list' }
  /** The own ticket does not exist any more: draw another. */
  | { do: 'draw' }

/**
 * Decides after ticket `own` was drawn and the directory's data was read. A released ticket had the lock, so all
 * tickets before it are removed.
 * @param isOurs true if the directory that was read is the one in which the ticket was drawn: a directory that was
 * deleted and created again starts its numbers again
 */
export function onDrawn(own: number, { isOurs, released }: { isOurs: boolean; released?: number | undefined }): Next {
  if (!isOurs) return { do: 'draw' }
  // Number 0 is the directory's first.
  if (own === 0 || released === own - 1) return { do: 'hold' }
  return { do: 'watch', ticket: own - 1 }
}

/**
 * Decides after the watched ticket was removed. Either its owner released the lock, or a waiter cancelled, died or lost
 * its node, and other tickets may still be ahead.
 */
export function onGone(
  watched: number,
  { isOurs, released }: { isOurs: boolean; released?: number | undefined },
): Next {
  if (!isOurs) return { do: 'draw' }
  return released === watched ? { do: 'hold' } : { do: 'list' }
}

/** @param isOurs as in {@link onDrawn} */
export function onListed(own: number, { isOurs, children }: { isOurs: boolean; children: readonly string[] }): Next {
  const turn = turnOf(children, ticketName(own), tickets)
  if (!isOurs || turn.status === 'gone') return { do: 'draw' }
  if (turn.status === 'first') return { do: 'hold' }
  return { do: 'watch', ticket: tickets.sequenceOf(turn.predecessor) ?? NaN }
}
