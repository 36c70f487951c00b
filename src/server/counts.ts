// What a server has taken in and sent out (ServerStats).

export interface ServerStats {
  /** Frames. */
  received: number
  sent: number
  /** With the four length bytes of each frame. */
  bytesReceived: number
  bytesSent: number
}

export const noCounts = (): ServerStats => ({ received: 0, sent: 0, bytesReceived: 0, bytesSent: 0 })

export const addedUp = (all: Iterable<ServerStats>): ServerStats => {
  const total = noCounts()
  for (const counts of all) for (const key of Object.keys(total) as (keyof ServerStats)[]) total[key] += counts[key]
  return total
}
