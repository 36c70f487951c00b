// Compares the frames and bytes that the clients counted with those that the server counted.
import { combined, minus, noCounts, type Counts, type Traffic } from './frame-counter.ts'

/** Named from the clients' point of view: `framesSent` are the frames that the server received. */
export type WireCounts = Pick<Counts, 'framesSent' | 'framesReceived' | 'bytesSent' | 'bytesReceived'>

export interface Reconciliation {
  clients: WireCounts
  /** The server's counts, without those that it does not report. */
  server: Partial<WireCounts>
  /** True if all counts that both report are equal. */
  agree: boolean
}

/** Returns the sum, or undefined if no server reported counts. */
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

/** The number of attempts. An attempt fails if a frame, such as a ping, passes meanwhile. */
const ATTEMPTS = 50

export interface WireCounters {
  /** Reads the clients' counts. */
  clients: () => Promise<Traffic>
  /**
   * Reads the server's counts since its start. Resolves with undefined if it reports none, or has other clients too.
   */
  server: () => Promise<Partial<WireCounts> | undefined>
}

/**
 * Starts counting at both ends. The returned function compares the traffic since then.
 * No frame may be in flight now, nor when that function is called.
 * @param attempts how often both ends are read until they agree
 */
export async function startReconciliation(
  counters: WireCounters,
  attempts = ATTEMPTS,
): Promise<() => Promise<Reconciliation | undefined>> {
  const before = await readBoth(counters)
  return async () => {
    let result: Reconciliation | undefined
    // Apache's server counts a frame after writing it, so the client may receive it before.
    for (let attempt = 0; attempt < attempts && result?.agree !== true; attempt++) {
      const after = await readBoth(counters)
      if (before === undefined || after === undefined) return undefined
      result = between(before, after)
    }
    return result
  }
}

/** Reads both ends at a moment without traffic, so that the counts can be compared. */
async function readBoth({ clients, server }: WireCounters) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = allOf(await clients())
    const counts = await server()
    if (counts === undefined) return undefined
    const after = allOf(await clients())
    if (keys.every(key => after[key] === before[key])) return { clients: after, server: counts }
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

/** Adds up all causes, because the server does not distinguish them. */
const allOf = (traffic: Traffic): Counts =>
  [traffic.work, traffic.handshakes, traffic.fences, traffic.pings].reduce(
    (total, each) => combined(total, each),
    noCounts(),
  )
