// Whose turn it was, and from which transaction on, by nothing but the server's log.
import { opcodes } from '../../src/protocol/index.ts'
import type { Transaction } from './transaction-log.ts'

/** How a kind of lock is laid out in nodes, and who may hold it beside whom. */
export interface Kind {
  /** Finds the number of a contender's node in its path below the lock's own. */
  readonly contender: RegExp
  /** Contenders whose nodes look like this hold the lock beside each other. */
  readonly shared?: RegExp
  /** How many may hold it beside each other in any case. */
  readonly permits: number
  /** Is it held in the order in which the nodes were created? */
  readonly isFair: boolean
  /** It is held on the way to another lock, and nobody tells of it. */
  readonly isInner?: boolean
}

const child = /^\/[^/]*?(\d{10})$/
const lease = /^\/leases\/[^/]*?(\d{10})$/

const queue: Kind = { contender: child, permits: 1, isFair: true }
const singleNode: Kind = { contender: /^()$/, permits: 1, isFair: false }
const readWrite: Kind = { ...queue, shared: /__(?:READ|rlock)__\d{10}$/ }
const semaphore = (permits: number): Kind => ({ contender: lease, permits, isFair: true })
const gate: Kind = { ...queue, isInner: true }

export const kinds = { queue, singleNode, readWrite, semaphore, gate }

/** A moment in the server's order. */
export interface LogPosition {
  zxid: bigint
  /** Ms since 1970. */
  at: number
}

/** One contender's node. */
export interface Tenure {
  readonly lock: string
  readonly kind: Kind
  readonly path: string
  readonly sequence: number
  readonly isShared: boolean
  /** The session that made it. */
  readonly session: bigint
  readonly created: LogPosition
  /** From when on nobody was in its way. */
  since?: LogPosition
  /** When it was deleted, by whom, and whether as an ephemeral node of a session that ended. */
  until?: LogPosition & { by: bigint; withSession: boolean }
}

export type Locks = ReadonlyMap<string, Kind>

export const excludes = (a: { isShared: boolean }, b: { isShared: boolean }): boolean => !(a.isShared && b.isShared)

/** In the order in which they were created. */
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
  for (const each of living) if (each.sequence < own.sequence && excludes(each, own)) earlier++
  return earlier < own.kind.permits
}

/** Of which lock is this node a contender's, and which? */
function contenderNodeOf(path: string, locks: Locks) {
  for (let lock = path; lock !== ''; lock = lock.slice(0, lock.lastIndexOf('/'))) {
    const kind = locks.get(lock)
    const match = kind?.contender.exec(path.slice(lock.length))
    if (kind !== undefined && match)
      return { lock, kind, sequence: Number(match[1]), isShared: kind.shared?.test(path) ?? false }
  }
  return undefined
}
