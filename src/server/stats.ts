// Counts of frames and bytes, for a connection or a server.

export interface ServerStats {
  /** Frames. */
  received: number
  sent: number
  /** Bytes, with the four length bytes of each frame. */
  bytesReceived: number
  bytesSent: number
}

export const emptyStats = (): ServerStats => ({ received: 0, sent: 0, bytesReceived: 0, bytesSent: 0 })

export const totalStats = (all: Iterable<ServerStats>): ServerStats => {
  const total = emptyStats()
  for (const stats of all) for (const key of Object.keys(total) as (keyof ServerStats)[]) total[key] += stats[key]
  return total
}
