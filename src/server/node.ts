// A node of the tree.
import type { ACL } from '../protocol/index.ts'

/**
 * The kind of a node, which decides when the server deletes it.
 * @example
 * await zk.create('/worker', '', { mode: 'ephemeral' })
 * const kind: NodeKind | undefined = server.snapshot().nodes.get('/worker')?.kind
 * kind // => { is: 'ephemeral', session: zk.sessionId }
 */
export type NodeKind =
  | { is: 'persistent' }
  | { is: 'ephemeral'; session: bigint }
  /** Deleted by a periodic check after its last child was deleted. */
  | { is: 'container' }
  /** Deleted by a periodic check if it has no children and its data has not changed for `ttl` milliseconds. */
  | { is: 'ttl'; ttl: number }

export interface Node {
  data: Buffer | null
  acl: readonly ACL[]
  readonly kind: NodeKind
  readonly children: Set<string>
  /** The number of children ever created, as a 32-bit integer: the next sequence number. */
  created: number
  czxid: bigint
  mzxid: bigint
  pzxid: bigint
  ctime: number
  mtime: number
  version: number
  aversion: number
}

/** What a request decides about a new node. */
export type NodeContent = Pick<Node, 'data' | 'acl' | 'kind'>
