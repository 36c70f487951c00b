// The figures of an ensemble, as they are in the result.
import type { Latency } from '../measure/latency.ts'
import type { Role } from './server-report.ts'

interface ServerFigures {
  address: string
  role: Role
  /** What the server's own counts were read from. Undefined if it does not report them. */
  countedBy: 'mntr' | 'the admin server' | undefined
}

/** Counts of one server. The arrays below have one entry for each server, in the order of `servers`. */
export interface ServerCounts {
  notifications: number
  /** The requests that clients sent to the server. */
  requests: number
  bytesSent: number
  bytesReceived: number
}

/** One phase of a scenario, with its sessions placed on the servers in one way. */
export interface Placed {
  scenario: string
  phase: string
  /** 'all servers', or the role of the only server. */
  on: string
  steps: number
  byServer: ServerCounts[]
  /** Median time until the last session was notified, or until the next one had the lock, ms. */
  last: number
  /** Median time until all traffic had passed, with the fences that prove it, ms. */
  ms: number
}

/** Whether the servers counted the same frames as the clients. */
export interface FrameCounts {
  /** For each server: the frames that clients sent to it and received from it, by both counts. */
  frames: { clients: [sent: number, received: number]; server: [sent: number, received: number] | undefined }[]
  /** True if all servers that report counts agree. Undefined if none does, or if they have other clients too. */
  agree: boolean | undefined
}

/** Reads and writes through one server, one after the other. */
export interface Calls {
  server: number
  write: Latency
  read: Latency
  /** The writes that were sent to this server. */
  writes: number
  /** The proposals of each server meanwhile, by its own count. */
  proposals: (number | undefined)[]
}

/** From release() on one server to the end of acquire() on another. */
export interface HandOver {
  from: number
  to: number
  latency: Latency
}

export interface LeaderLoss {
  leader: string
  /** From the kill until a server led again, ms. */
  newLeaderMs: number
  /** From the kill until a write succeeded, ms. */
  firstWriteMs: number
  /** The longest time without a hand-over that began before the kill or within its outage, ms. */
  longestPauseMs: number
  /** The median time between two hand-overs before the kill, ms. */
  usualPauseMs: number
  sessions: number
  /** The sessions that lost their connection. */
  disconnected: number
  expired: number
  /** From the kill until the last session was connected again, ms. */
  reconnectedMs: number
  /** True if two sessions held the lock at once. */
  overlapped: boolean
  watchers: number
  /** The watching sessions that read a change made after the outage. */
  informed: number
}

export interface EnsembleFigures {
  servers: ServerFigures[]
  sessions: number
  placed: Placed[]
  frameCounts: FrameCounts
  calls: Calls[]
  handOvers: HandOver[]
  leaderLoss?: LeaderLoss | undefined
  remarks: string[]
}
