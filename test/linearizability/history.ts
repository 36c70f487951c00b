// What happened to those who wanted a lock, as they tell it themselves.

/** Milliseconds of the clock that all processes of a machine share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/**
 * `id` is one try to hold a lock: it is asked for; then it is refused, or granted, and then released; and in between it may be lost. `lastZxid`
 * is the last transaction that the session knew of at that moment.
 */
export type Event = { at: number } & (
  | { is: 'requested'; id: string; lock: string; session: bigint }
  | { is: 'granted'; id: string; node: string; token: bigint; lastZxid: bigint }
  | { is: 'refused'; id: string; why: string }
  | { is: 'lost'; id: string }
  | { is: 'releasing'; id: string }
  /** `isOver`: with its session. */
  | { is: 'released'; id: string; lastZxid: bigint; isOver: boolean }
  /** What the session asks is answered, or it is not. */
  | { is: 'connected' | 'cutOff'; session: bigint }
  /** Somebody ended the session at the server, whose owner cannot have known. */
  | { is: 'killed'; session: bigint }
)

type Of<Is extends Event['is']> = Extract<Event, { is: Is }>

/** One try, as far as it came. */
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

/** One that was granted. */
export type Grant = Attempt & Required<Pick<Attempt, 'granted'>>

export const isGrant = (attempt: Attempt): attempt is Grant => attempt.granted !== undefined

/** In the order in which they asked. Of what is told of one twice, the last is kept. */
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

// As lines, for histories of several processes. An integer of 64 bits is written with an n, as JavaScript has it.

export const toLine = (event: Event): string =>
  JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))

export const fromLine = (line: string): Event =>
  JSON.parse(line, (_, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Event
