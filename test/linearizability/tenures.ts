// Derives from the server's log alone which node had its turn, and from which transaction on.
import { opcodes, parentOf } from '../../src/protocol/index.ts'
import type { Transaction } from './transaction-log.ts'

/** The node layout of a kind of lock, and which contenders may hold it concurrently. */
export interface Kind {
  /** Matches the path of a contender's node relative to the lock's path. The group is the sequence number. */
  readonly contender: RegExp
  /** Matches nodes of readers: contenders that share the lock with each other. */
  readonly shared?: RegExp
  /** How many contenders may hold the lock concurrently even if they are no readers. */
  readonly permits: number
  /** True if the lock is granted in the order in which the nodes were created. */
  readonly isFair: boolean
  /** True if it is only held inside another lock's acquire, which records no events for it. */
  readonly isInner?: boolean
}

const child = /^\/[^/]*?(\d{10})$/
const ticket = /^\/[\da-f-]{36}\/t-(\d{10})$/
const lease = /^\/leases\/[^/]*?(\d{10})$/

const queue: Kind = { contender: child, permits: 1, isFair: true }
const tickets: Kind = { ...queue, contender: ticket }
const singleNode: Kind = { contender: /^()$/, permits: 1, isFair: false }
const readWrite: Kind = { ...queue, shared: /__(?:READ|rlock)__\d{10}$/ }
const semaphore = (permits: number): Kind => ({ contender: lease, permits, isFair: true })
const gate: Kind = { ...queue, isInner: true }

export const kinds = { queue, tickets, singleNode, readWrite, semaphore, gate }

/** A position in the server's transaction log. */
interface LogPosition {
  zxid: bigint
  /** The time in ms since 1970. */
  at: number
}

/** The life of one contender's node: created, at the head of the queue, deleted. */
export interface Tenure {
  readonly lock: string
  readonly kind: Kind
  readonly path: string
  readonly sequence: number
  readonly isShared: boolean
  /** The session that created the node. */
  readonly session: bigint
  readonly created: LogPosition
  /** The transaction from which on no node ahead of this one excluded it from the lock. */
  since?: LogPosition
  /** When the node was deleted, by which session, and whether its own session's end deleted it. */
  until?: LogPosition & { by: bigint; withSession: boolean }
}

export type Locks = ReadonlyMap<string, Kind>

export const excludes = (a: { isShared: boolean }, b: { isShared: boolean }): boolean => !(a.isShared && b.isShared)

/** Returns the tenures of all contenders' nodes in the order of their creation. */
export function tenuresIn(log: readonly Transaction[], locks: Locks): Tenure[] {
  const all: Tenure[] = []
  const living = new Map<string, Map<string, Tenure>>()
  for (const { zxid, at, session, type, changes } of log) {
    for (const change of changes) {
      const node = change.is === 'written' ? undefined : contenderNodeOf(change.path, locks)
      if (node === undefined) continue
      const { lock, kind, sequence, isShared } = node
      const nodes = living.get(lock) ?? new Map<string, Tenure>()
      living.set(lock, nodes)
      if (change.is === 'created') {
        const tenure = { lock, kind, path: change.path, sequence, isShared, session, created: { zxid, at } }
        nodes.set(change.path, tenure)
        all.push(tenure)
      } else {
        const deleted = nodes.get(change.path)
        if (deleted !== undefined) deleted.until = { zxid, at, by: session, withSession: type === opcodes.closeSession }
        nodes.delete(change.path)
      }
      for (const tenure of nodes.values()) {
        if (tenure.since === undefined && isTurnOf(tenure, nodes.values())) tenure.since = { zxid, at }
      }
    }
  }
  return all
}

const isTurnOf = (own: Tenure, living: Iterable<Tenure>): boolean => {
  let earlier = 0
  for (const each of living) if (isBefore(each, own) && excludes(each, own)) earlier++
  return earlier < own.kind.permits
}

/** Each directory counts anew, so the numbers of two directories cannot be compared. */
const isBefore = (a: Tenure, b: Tenure): boolean =>
  parentOf(a.path) === parentOf(b.path) ? a.sequence < b.sequence : a.created.zxid < b.created.zxid

/** Returns the lock that a node of this path contends for, or undefined if it is no contender's node. */
function contenderNodeOf(path: string, locks: Locks) {
  for (let lock = path; lock !== ''; lock = lock.slice(0, lock.lastIndexOf('/'))) {
    const kind = locks.get(lock)
    const match = kind?.contender.exec(path.slice(lock.length))
    if (kind !== undefined && match)
      return { lock, kind, sequence: Number(match[1]), isShared: kind.shared?.test(path) ?? false }
  }
  return undefined
}
