// What a holder of a ticket does next. The decisions, without the doing.
import { matching, type Names } from '../queue/dialect.ts'
import { turnOf } from '../queue/turn.ts'

export const tickets: Names = { prefix: () => 't-', sequenceOf: matching(/^t-(-?\d{10})$/), areUnique: false }

const digitsOf = (sequence: number) => String(sequence).padStart(10, '0')

export const ticketName = (sequence: number): string => `t-${digitsOf(sequence)}`

/** What the directory's data says when this ticket was held and is given back. */
export const releasedAs = digitsOf

/** The ticket that was given back last, or undefined where the data says nothing of the kind. */
export function releasedIn(data: Buffer | null): number | undefined {
  const text = data?.toString() ?? ''
  return /^\d{10}$/.test(text) ? Number(text) : undefined
}

export type Next =
  | { do: 'hold' }
  /** Wait until this ticket is gone. */
  | { do: 'watch'; ticket: number }
  /** Nothing but the list of all tickets can tell. */
  | { do: 'list' }
  /** One's own ticket is gone: draw another. */
  | { do: 'draw' }

/**
 * One has just drawn `own`, and read behind it which ticket was given back last: whoever gives one back has held the lock, so nobody
 * before him is left.
 * @param isOurs what was read is the directory that one has drawn from: numbers begin anew in one that was deleted and made again
 */
export function onDrawn(own: number, { isOurs, released }: { isOurs: boolean; released?: number | undefined }): Next {
  if (!isOurs) return { do: 'draw' }
  // Number 0 is the first that this directory has given.
  if (own === 0 || released === own - 1) return { do: 'hold' }
  return { do: 'watch', ticket: own - 1 }
}

/**
 * The ticket that one watched is gone: given back by its holder, or dropped by somebody who waited, died or was deleted, with others still
 * before him.
 */
export function onGone(
  watched: number,
  { isOurs, released }: { isOurs: boolean; released?: number | undefined },
): Next {
  if (!isOurs) return { do: 'draw' }
  return released === watched ? { do: 'hold' } : { do: 'list' }
}

/** @param isOurs as of {@link onDrawn} */
export function onListed(own: number, { isOurs, children }: { isOurs: boolean; children: readonly string[] }): Next {
  const where = turnOf(children, ticketName(own), tickets)
  if (!isOurs || where.is === 'gone') return { do: 'draw' }
  if (where.is === 'turn') return { do: 'hold' }
  return { do: 'watch', ticket: tickets.sequenceOf(where.behind) ?? NaN }
}
