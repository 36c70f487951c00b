// What has passed on the wire, as those at both ends have counted it.
import { combined, minus, noCounts, type Counts, type Traffic } from './frame-counter.ts'

/** By the clients' words: sent is what the server received. */
export type WireCounts = Pick<Counts, 'framesSent' | 'framesReceived' | 'bytesSent' | 'bytesReceived'>

export interface Reconciliation {
  clients: WireCounts
  /** What it does not count is left out. */
  server: Partial<WireCounts>
  /** Is what both counted the same? */
  agree: boolean
}

/** All of them together; undefined where no server told anything. */
export function totalOf(all: readonly (Reconciliation | undefined)[]): Reconciliation | undefined {
  const [first, ...others] = all.filter(each => each !== undefined)
  if (first === undefined) return undefined
  return others.reduce(
    (total, { clients, server, agree }) => ({
      clients: added(total.clients, clients) as WireCounts,
      server: added(total.server, server),
      agree: total.agree && agree,
    }),
    first,
  )
}

const added = (a: Partial<WireCounts>, b: Partial<WireCounts>): Partial<WireCounts> =>
  Object.fromEntries(keys.flatMap(key => (a[key] === undefined ? [] : [[key, a[key] + (b[key] ?? NaN)]])))

/** Pings come unasked: a moment without any is not far. */
const MAX_ATTEMPTS = 50

export interface WireCounters {
  /** All that the clients have seen pass. */
  clients: () => Promise<Traffic>
  /** What the server says has passed since it began; undefined where it says nothing, or says it of others too. */
  server: () => Promise<Partial<WireCounts> | undefined>
}

/** What passes from now on. Nothing may be under way, now and when the returned function is called. */
export async function startReconciliation(sides: WireCounters): Promise<() => Promise<Reconciliation | undefined>> {
  const before = await readBoth(sides)
  return async () => {
    let seen: Reconciliation | undefined
    // Apache's server counts a frame when it has been written: the client may have it before.
    for (let looks = 0; looks < MAX_ATTEMPTS && seen?.agree !== true; looks++) {
      const after = await readBoth(sides)
      if (before === undefined || after === undefined) return undefined
      seen = between(before, after)
    }
    return seen
  }
}

/** At one moment: nothing passed between the looks at the one side and at the other. */
async function readBoth({ clients, server }: WireCounters) {
  for (let looks = 0; looks < MAX_ATTEMPTS; looks++) {
    const before = allOf(await clients())
    const told = await server()
    if (told === undefined) return undefined
    const after = allOf(await clients())
    if (keys.every(key => after[key] === before[key])) return { clients: after, server: told }
  }
  return undefined
}

const keys = ['framesSent', 'framesReceived', 'bytesSent', 'bytesReceived'] as const

function between(before: { clients: Counts; server: Partial<WireCounts> }, after: typeof before): Reconciliation {
  const all = minus(after.clients, before.clients)
  const clients: WireCounts = { framesSent: 0, framesReceived: 0, bytesSent: 0, bytesReceived: 0 }
  const server: Partial<WireCounts> = {}
  for (const key of keys) {
    clients[key] = all[key]
    const [now, then] = [after.server[key], before.server[key]]
    if (now !== undefined && then !== undefined) server[key] = now - then
  }
  return { clients, server, agree: keys.every(key => (server[key] ?? clients[key]) === clients[key]) }
}

/** Whatever the cause: to a server they are all the same. */
const allOf = (traffic: Traffic): Counts =>
  [traffic.work, traffic.handshakes, traffic.fences, traffic.pings].reduce(
    (total, each) => combined(total, each),
    noCounts(),
  )
