// Counts of frames and bytes, for a connection or a server.

/**
 * Counts of frames and bytes, for one connection or for a server since `Server.start()`.
 * @example
 * const before: ServerStats = { ...server.stats }
 * await zk.exists('/app')
 * server.stats.received - before.received // => 1
 */
export interface ServerStats {
  /** The number of frames received. */
  received: number
  /** The number of frames sent, events included. */
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

const difference = (stats: ServerStats, from: ServerStats): ServerStats => {
  const result = { ...stats }
  for (const key of Object.keys(result) as (keyof ServerStats)[]) result[key] -= from[key]
  return result
}

/** The counts that four-letter words report: those since the last srst or crst. */
export class WordStats {
  #server = emptyStats()
  #connections = new WeakMap<object, ServerStats>()

  ofServer(stats: ServerStats): ServerStats {
    return difference(stats, this.#server)
  }

  ofConnection(connection: { readonly stats: ServerStats }): ServerStats {
    return difference(connection.stats, this.#connections.get(connection) ?? emptyStats())
  }

  resetServer(stats: ServerStats): void {
    this.#server = stats
  }

  resetConnections(connections: Iterable<{ readonly stats: ServerStats }>): void {
    for (const each of connections) this.#connections.set(each, { ...each.stats })
  }
}
