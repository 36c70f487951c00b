// The history of a run: the events that the contenders of locks record about themselves.

/** Returns the time in ms by the monotonic clock, which all processes of a machine share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/**
 * `id` identifies one attempt to hold a lock. The lock is requested, then refused, or granted and later released. A
 * granted lock may be lost before its release. `lastZxid` is the last transaction that the session knew of at that
 * moment from a reply, and `lastDeletion` the last one that an event reported.
 */
export type Event = { at: number } & (
  | { is: 'requested'; id: string; lock: string; session: bigint }
  | { is: 'granted'; id: string; node: string; token: bigint; lastZxid: bigint; lastDeletion?: ReportedDeletion }
  | { is: 'refused'; id: string; why: string }
  | { is: 'lost'; id: string }
  | { is: 'releasing'; id: string }
  /** `isOver` is true if the session had ended. */
  | { is: 'released'; id: string; lastZxid: bigint; isOver: boolean }
  /** From now on, the session's requests get replies ('connected') or get none ('cutOff'). */
  | { is: 'connected' | 'cutOff'; session: bigint }
  /** Another client ended the session at the server. The session's own client does not know yet. */
  | { is: 'killed'; session: bigint }
)

/** An event that reported a deletion. It has no zxid (before 3.9), but its transaction is later than `after`. */
export interface ReportedDeletion {
  path: string
  /** The last transaction that the session knew of when the event came. */
  after: bigint
}

type Of<Is extends Event['is']> = Extract<Event, { is: Is }>

/** One attempt, with the events recorded so far. */
export interface Attempt {
  readonly id: string
  readonly lock: string
  readonly session: bigint
  readonly requestedAt: number
  granted?: Of<'granted'>
  refused?: Of<'refused'>
  lost?: Of<'lost'>
  releasing?: Of<'releasing'>
  released?: Of<'released'>
}

/** An attempt that was granted the lock. */
export type Grant = Attempt & Required<Pick<Attempt, 'granted'>>

export const isGrant = (attempt: Attempt): attempt is Grant => attempt.granted !== undefined

/**
 * Returns the attempts in the order of their requests. If an event is recorded twice for one attempt, the last one
 * counts.
 */
export function attemptsIn(events: readonly Event[]): Attempt[] {
  const all = new Map<string, Attempt>()
  for (const event of inOrder(events)) {
    if (event.is === 'requested') {
      const { id, lock, session, at } = event
      all.set(id, { id, lock, session, requestedAt: at })
    } else if ('id' in event) {
      Object.assign(all.get(event.id) ?? {}, { [event.is]: event })
    }
  }
  return [...all.values()]
}

export const inOrder = (events: readonly Event[]): Event[] => [...events].sort((a, b) => a.at - b.at)

export function grouped<T, K>(all: Iterable<T>, keyOf: (each: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const each of all) {
    const key = keyOf(each)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [each])
    else group.push(each)
  }
  return groups
}

// The line format, for histories of several processes. Integers of 64 bits are written like BigInt literals: 12n.

export const toLine = (event: Event): string =>
  JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))

export const fromLine = (line: string): Event =>
  JSON.parse(line, (_, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Event
