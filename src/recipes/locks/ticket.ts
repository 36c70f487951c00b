// Decides what the owner of a ticket does next. Pure functions.
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

export type Next =
  | { do: 'hold' }
  /** Wait until this ticket is removed. */
  | { do: 'watch'; ticket: number }
  /** Only the list of all tickets can decide. */
  | { do: 'list' }
  /** Our ticket does not exist any more: draw another. */
  | { do: 'draw' }
  /** The numbers of this life are used up: begin the next life, and draw a ticket there. */
  | { do: 'renew' }

/**
 * Decides after ticket `own` was drawn and the directory's data was read. The owner of a released ticket held the lock,
 * so no ticket before it exists any more.
 * @param isOurs true if the directory that was read is the one in which the ticket was drawn: a directory that was
 * deleted and created again starts its numbers again
 */
export function onDrawn(own: number, { isOurs, released }: { isOurs: boolean; released?: number | undefined }): Next {
  if (!isOurs) return { do: 'draw' }
  // Number 0 is the directory's first ticket.
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

/**
 * Decides after all tickets were listed.
 * @param isOurs as in {@link onDrawn}
 */
export function onListed(own: number, { isOurs, children }: { isOurs: boolean; children: readonly string[] }): Next {
  const turn = turnOf(children, ticketName(own), tickets)
  if (!isOurs || turn.status === 'gone') return { do: 'draw' }
  if (turn.status === 'first') return { do: 'hold' }
  return { do: 'watch', ticket: tickets.sequenceOf(turn.predecessor) ?? NaN }
}
