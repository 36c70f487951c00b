// Counts of frames and bytes, and latencies, for a connection or a server.

/**
 * Counts of frames and bytes, for one connection or for a server since `Server.start()`.
 * @example
 * const before: ServerStats = { ...server.stats }
 * await zk.exists('/app')
 * server.stats.received - before.received // => 1
 */
export interface ServerStats {
  /** The number of frames received, and of four-letter words. */
  received: number
  /** The number of frames sent, events included, and of packets with the answers to four-letter words. */
  sent: number
  /** The number of bytes received, with the four length bytes of each frame. */
  bytesReceived: number
  /** The number of bytes sent, with the four length bytes of each frame. */
  bytesSent: number
}

export const emptyStats = (): ServerStats => ({ received: 0, sent: 0, bytesReceived: 0, bytesSent: 0 })

export const totalStats = (all: Iterable<ServerStats>): ServerStats => {
  const total = emptyStats()
  for (const stats of all) for (const key of Object.keys(total) as (keyof ServerStats)[]) total[key] += stats[key]
  return total
}

/** How long requests have waited for their replies, in milliseconds (AvgMinMaxCounter). */
export class Latency {
  #count = 0
  #total = 0
  #min = Infinity
  last = 0
  max = 0

  add(ms: number): void {
    this.#count++
    this.#total += ms
    this.#min = Math.min(this.#min, ms)
    this.max = Math.max(this.max, ms)
    this.last = ms
  }

  get min(): number {
    return this.#count === 0 ? 0 : this.#min
  }

  get average(): number {
    return this.#count === 0 ? 0 : this.#total / this.#count
  }
}

/** What four-letter words report of a server or of a connection: since its start, or since the last srst or crst. */
export class WordStats {
  readonly latency = new Latency()
  readonly #before: ServerStats
  /** The last operation with a reply, and its xid. */
  operation = 'NA'
  xid = -1
  /** The zxid and the time of the last reply. */
  zxid = -1n
  repliedAt = 0

  /** @param before the counts at the reset */
  constructor(before = emptyStats()) {
    this.#before = { ...before }
  }

  /** Returns the counts since the reset. */
  countsOf(stats: ServerStats): ServerStats {
    const counts = { ...stats }
    for (const key of Object.keys(counts) as (keyof ServerStats)[]) counts[key] -= this.#before[key]
    return counts
  }
}
