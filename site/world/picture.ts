// What a world looks like at one moment, as plain data. Two pictures of the same moment are deeply equal.
import type { State } from '../../src/index.ts'
import type { MemberMode } from '../../src/server/index.ts'
import type { ServerMessage } from './member-message.ts'
import type { FrameKind } from './wire-frame.ts'
import type { Call, Story } from './story.ts'

export interface Picture {
  /** Virtual milliseconds since the start. */
  readonly now: number
  readonly story: Story
  /** By number. The operator has the number 0, and is here only while it has a session. */
  readonly clients: readonly ClientPicture[]
  readonly servers: readonly ServerPicture[]
  /** The messages between servers that are on their way. */
  readonly messages: readonly ServerMessage[]
  readonly store: StorePicture
  /** What programs have printed and what the judge has done to them, as the last lines of a trial before this moment. */
  readonly said?: readonly SaidPicture[] | undefined
  /** Each time that a client got what it waits for, the oldest first. */
  readonly holdings: readonly Holding[]
  /** The calls of bare clients, in the order in which they began. */
  readonly operations: readonly Operation[]
  /** `thisRelease`: from the last release until the next command, without pings. */
  readonly counters: { readonly all: Counters; readonly thisRelease: Counters }
  /** One for each release so far. */
  readonly releases: readonly ReleaseCost[]
}

export interface SaidPicture {
  readonly client: number
  readonly text: string
}

/** `starting`: it has not opened a session yet. */
export type ProcessState = 'starting' | 'running' | 'stopped' | 'dead'

/** What the recipe of a client does. `inside`: in a semaphore or a double barrier, or past a barrier. */
export type Role = 'none' | 'waiting' | 'holding' | 'leading' | 'reading' | 'writing' | 'inside' | 'lost' | 'done'

/** True if a client in this role has what its recipe gives. */
export const isActive = (role: Role): boolean => /^(holding|leading|reading|writing|inside)$/.test(role)

export interface ClientPicture {
  readonly id: number
  /** Where it is, if a file says so: 'address:port'. */
  readonly address?: string | undefined
  readonly process: ProcessState
  /** When a stopped process goes on; undefined if it is not stopped. */
  readonly stoppedUntil: number | undefined
  /** When an unplugged line works again; undefined if it is not unplugged. */
  readonly unpluggedUntil: number | undefined
  readonly state: State
  /** The id of the session in hex; undefined if it has none yet. */
  readonly session: string | undefined
  /** The server that the client is connected or connecting to; undefined if none. */
  readonly server: number | undefined
  /** How long the session is certainly still valid, in milliseconds, and the whole session timeout. */
  readonly lease: { readonly left: number; readonly of: number }
  readonly role: Role
  /**
   * False if the client may have lost what its role says: its lease is over, or the servers have ended its session or
   * removed its node, and its program does not know that yet. True for each other role.
   */
  readonly isConfirmed: boolean
  /** The path of the own node, and the fencing token, while the client holds a lock. */
  readonly node: string | undefined
  readonly token: string | undefined
  /** The numbers of the frames of the requests that have no answer yet. */
  readonly requests: readonly number[]
  /** The watches of its session, as the servers have them. */
  readonly watches: readonly WatchPicture[]
  /** What its program saw, oldest first: at most the last 50 entries. */
  readonly journal: readonly JournalEntry[]
  /** How the program that a reader wrote ended; undefined while it runs, and if there is none. */
  readonly ended: ProgramEnd | undefined
}

export interface ProgramEnd {
  readonly at: number
  /** The line is counted from 1; undefined if none of the program is known. */
  readonly error?: { readonly message: string; readonly line: number | undefined }
}

/** The time for which a client holds a lock, or is past a barrier, as its own program sees it. */
export interface Holding {
  readonly client: number
  readonly at: number
  /** When a server deleted its node, although it had not released. Undefined if none has. */
  readonly lostAt: number | undefined
  /** When it released, learned of its loss, or died. Undefined if it still holds, as far as it knows. */
  readonly until: number | undefined
}

/** A call of a bare client, as its own program sees it. */
export interface Operation {
  readonly client: number
  readonly call: Call
  /** When the program called. */
  readonly from: number
  /** When it got the outcome; undefined while it waits. */
  readonly until: number | undefined
  readonly outcome: Outcome | undefined
}

/**
 * The error code of a call that failed, or what it returned: of `get` the data as text, of `exists` whether the node
 * does, of `increment` the number. Undefined for the others.
 */
export type Outcome = { readonly error: string } | { readonly value: string | boolean | undefined }

export interface WatchPicture {
  readonly path: string
  readonly kind: 'data' | 'children' | 'persistent' | 'recursive'
  /** The number of the client; undefined if its session belongs to none. */
  readonly client: number | undefined
  readonly session: string
}

export interface JournalEntry {
  readonly at: number
  readonly kind: 'state' | 'call' | 'result' | 'error' | 'event' | 'lock'
  readonly text: string
}

export interface ServerPicture {
  readonly id: number
  /** Where it is, if a file says so: 'address:port'. */
  readonly address?: string | undefined
  /** `unknown`: it is a server of a file, which does not say it. */
  readonly mode: 'standalone' | MemberMode | 'unknown'
  /** True if it has no vote, whatever its mode. */
  readonly isObserver: boolean
  readonly isCutOff: boolean
  /** How many seconds each message between it and another server takes longer. */
  readonly lag: number
  readonly epoch: number
  /** In hex. */
  readonly zxid: string
  /** Sorted by path; the root first. */
  readonly nodes: readonly NodePicture[]
  readonly sessions: readonly SessionPicture[]
  /** Sorted by path. */
  readonly watches: readonly WatchPicture[]
}

export interface SessionPicture {
  readonly id: string
  readonly client: number | undefined
  readonly timeout: number
  /** True if it has a connection to this server. */
  readonly isConnected: boolean
  readonly ephemerals: readonly string[]
}

export interface NodePicture {
  readonly path: string
  readonly data: Uint8Array | null
  /** The data as text, if it is printable UTF-8 of at most 200 characters. */
  readonly text: string | undefined
  /** `unknown`: no frame of the file says it. */
  readonly kind: 'persistent' | 'ephemeral' | 'container' | 'ttl' | 'unknown'
  /** The client whose session owns an ephemeral node. */
  readonly owner: number | undefined
  /** The fields of the Stat by their names in ZooKeeper, zxids and session ids in hex. */
  readonly stat: Readonly<Record<string, string>>
}

/** One change of a node, for its history. */
export interface NodeChange {
  readonly at: number
  readonly zxid: string
  readonly what: 'created' | 'deleted' | 'changed'
  readonly path: string
  /** The client that caused it; undefined if the server did. */
  readonly client: number | undefined
}

/** The store outside ZooKeeper that the lock protects. */
export interface StorePicture {
  /** The greatest token that it has seen. */
  readonly token: string | undefined
  readonly writes: readonly StoreWrite[]
}

export interface StoreWrite {
  /** A registration only sends the token. */
  readonly kind: 'write' | 'registration'
  readonly at: number
  readonly client: number
  readonly token: string | undefined
  readonly isAccepted: boolean
  /** True if the client did not hold the lock any more when the write arrived. */
  readonly isLate: boolean
}

export interface Counters {
  readonly frames: number
  readonly bytes: number
  readonly byKind: Readonly<Record<FrameKind, number>>
}

/** What one release cost, until the next command. */
export interface ReleaseCost {
  /** The client that released. */
  readonly by: number
  readonly at: number
  /** The number of clients that waited. */
  readonly waiting: number
  /** The number of clients that waited or held. */
  readonly contending: number
  /** Milliseconds from the release until the next client held the lock; undefined if none does yet. */
  readonly ms: number | undefined
  /** Without pings. */
  readonly counters: Counters
}
