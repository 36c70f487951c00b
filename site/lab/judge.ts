// Judges what the clients did with what only one of them may have.
import type { Holding, Picture } from '../world/picture.ts'

/** Two clients were in the critical section at the same time, in virtual milliseconds. */
export interface Overlap {
  readonly clients: readonly [number, number]
  readonly from: number
  readonly until: number
}

export interface Verdict {
  readonly overlaps: readonly Overlap[]
  /** How often a client entered. */
  readonly entries: number
  /** The clients that never entered. */
  readonly outside: readonly number[]
  /** The clients whose program has not ended. A dead process does not count. */
  readonly unfinished: readonly number[]
  /** The programs that failed. */
  readonly failures: readonly { readonly client: number; readonly message: string; readonly line: number | undefined }[]
  /** The number of notifications to all clients. */
  readonly notifications: number
}

export function verdictOf({ clients, holdings, now, counters }: Picture): Verdict {
  return {
    overlaps: overlapsIn(holdings, now),
    entries: holdings.length,
    outside: clients.filter(({ id }) => !holdings.some(({ client }) => client === id)).map(({ id }) => id),
    unfinished: clients.filter(({ process, ended }) => process !== 'dead' && ended === undefined).map(({ id }) => id),
    failures: clients.flatMap(({ id, ended }) => (ended?.error ? [{ client: id, ...ended.error }] : [])),
    notifications: counters.all.byKind.notification,
  }
}

function overlapsIn(holdings: readonly Holding[], now: number): Overlap[] {
  return holdings.flatMap((one, i) =>
    holdings.slice(i + 1).flatMap((other): Overlap[] => {
      const from = Math.max(one.at, other.at)
      const until = Math.min(one.until ?? now, other.until ?? now)
      return one.client !== other.client && from < until ? [{ clients: [one.client, other.client], from, until }] : []
    }),
  )
}
