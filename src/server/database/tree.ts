// The tree of nodes (DataTree). It keeps versions and zxids; the operations check permissions.
import { eventTypes, nameOf, parentOf, perms, type ACL, type Stat } from '../../protocol/index.ts'
import { specialPaths } from '../../protocol/special-paths.ts'
import { Children } from './children.ts'
import { countChange } from './quotas.ts'
import { RequestError } from './request-error.ts'
import type { TreeTransaction } from './transaction.ts'

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
  readonly children: Children
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

export class Tree {
  readonly #nodes = new Map<string, Node>()
  /**
   * The paths of ephemeral nodes by session. A session stays here until `forget`, even if it owns no node any more
   * (DataTree.ephemerals).
   */
  readonly #ephemerals = new Map<bigint, Set<string>>()
  /** The paths of containers and of nodes with a ttl. */
  readonly #removable = new Set<string>()

  constructor() {
    const anyone = (granted: number): ACL[] => [{ perms: granted, id: { scheme: 'world', id: 'anyone' } }]
    for (const path of specialPaths) {
      this.#nodes.set(path, nodeOf({ data: Buffer.alloc(0), acl: anyone(perms.all), kind: { is: 'persistent' } }))
      // These nodes do not count as created, so /zookeeper has a cversion of -2.
      if (path !== '/') this.get(parentOf(path)).children.add(nameOf(path))
    }
    Object.assign(this.get('/zookeeper/config'), { acl: anyone(perms.read), aversion: -1 })
  }

  get size(): number {
    return this.#nodes.size
  }

  /** Paths and nodes, in no particular order. */
  get entries(): Iterable<[string, Node]> {
    return this.#nodes
  }

  find(path: string): Node | undefined {
    // The map of Apache's server contains the root under two paths, '' and '/'.
    return this.#nodes.get(path === '' ? '/' : path)
  }

  /** @throws RequestError NONODE if the node does not exist */
  get(path: string): Node {
    const node = this.find(path)
    if (node === undefined) throw new RequestError('NONODE')
    return node
  }

  /**
   * Returns the next sequence number. After the largest one, it continues with negative numbers within the transaction
   * (ChangeRecord of PrepRequestProcessor). The next transaction starts at the largest number again.
   */
  counter(tx: TreeTransaction, parent: Node): number {
    return tx.counters.get(parent) ?? parent.created
  }

  create(tx: TreeTransaction, path: string, content: NodeContent): Node {
    const parent = this.get(parentOf(path))
    const { created, pzxid } = parent
    const { capacity } = parent.children
    const next = (this.counter(tx, parent) + 1) | 0
    tx.counters.set(parent, next)
    const node = nodeOf({ ...content, zxid: tx.zxid, time: tx.time })
    const owner = node.kind.is === 'ephemeral' ? node.kind.session : undefined
    const isFirst = owner !== undefined && !this.#ephemerals.has(owner)
    this.#add(path, node)
    // At its maximum the counter does not change any more, and neither does pzxid, because the server accepts only a
    // greater cversion (DataTree.createNode).
    if (next > created) {
      parent.created = next
      parent.pzxid = tx.zxid
    }
    const undo = () => {
      this.#remove(path)
      parent.children.capacity = capacity
      if (isFirst) this.forget(owner)
      Object.assign(parent, { created, pzxid })
    }
    const change = { type: eventTypes.NodeCreated, path, acl: node.acl, parentACL: parent.acl }
    tx.record(undo, { type: 'create', path, ...content }, change)
    countChange(this, tx, path, { nodes: 1, bytes: sizeOf(node) })
    return node
  }

  delete(tx: TreeTransaction, path: string): void {
    const node = this.get(path)
    const parent = this.get(parentOf(path))
    const { pzxid } = parent
    const place = this.#remove(path)
    parent.pzxid = tx.zxid
    const undo = () => {
      this.#add(path, node, place)
      parent.pzxid = pzxid
    }
    const change = { type: eventTypes.NodeDeleted, path, acl: node.acl, parentACL: parent.acl }
    tx.record(undo, { type: 'delete', path }, change)
    countChange(this, tx, path, { nodes: -1, bytes: -sizeOf(node) })
  }

  /** Adds a node of an earlier tree, or replaces one of the first nodes. Returns why it cannot, or undefined. */
  restore(path: string, content: Omit<Node, 'children' | 'created'>): string | undefined {
    const existing = this.find(path)
    if (existing !== undefined) {
      if (!specialPaths.has(path)) return `the node ${path} exists already`
      Object.assign(existing, content)
      return undefined
    }
    const parent = this.find(parentOf(path))
    if (parent === undefined) return `the parent of ${path} must come before it`
    if (parent.kind.is === 'ephemeral') return `the parent of ${path} is ephemeral`
    this.#add(path, { ...content, children: new Children(), created: 0 })
    return undefined
  }

  /** Returns the number of children without the first nodes, which do not count as created. */
  createdBelow(path: string): number {
    const prefix = path === '/' ? path : `${path}/`
    return [...this.get(path).children].filter(name => !specialPaths.has(prefix + name)).length
  }

  setData(tx: TreeTransaction, path: string, data: Buffer | null): Node {
    const node = this.get(path)
    const { data: before, version, mzxid, mtime } = node
    Object.assign(node, { data, version: (version + 1) | 0, mzxid: tx.zxid, mtime: tx.time })
    const undo = () => void Object.assign(node, { data: before, version, mzxid, mtime })
    const change = { type: eventTypes.NodeDataChanged, path, acl: node.acl, parentACL: [] }
    tx.record(undo, { type: 'setData', path, data }, change)
    countChange(this, tx, path, { nodes: 0, bytes: sizeOf(node) - (before?.length ?? 0) })
    return node
  }

  /** Changes neither mzxid nor mtime, and fires no watch. */
  setACL(tx: TreeTransaction, path: string, acl: readonly ACL[]): Node {
    const node = this.get(path)
    const { acl: before, aversion } = node
    Object.assign(node, { acl, aversion: (aversion + 1) | 0 })
    const undo = () => void Object.assign(node, { acl: before, aversion })
    tx.record(undo, { type: 'setACL', path, acl })
    return node
  }

  /** Deletes the ephemeral nodes of a session that has ended. */
  endSession(tx: TreeTransaction, session: bigint): void {
    for (const path of this.ephemeralsOf(session)) this.delete(tx, path)
    this.forget(session)
    // To undo the deletions is enough.
    const undo = () => undefined
    tx.record(undo, { type: 'closeSession', session })
  }

  /** Sets the number of the next sequential child. */
  setCounter(tx: TreeTransaction, path: string, next: number): void {
    const node = this.get(path)
    const { created } = node
    node.created = next
    const undo = () => void (node.created = created)
    tx.record(undo, { type: 'setCounter', path, next })
  }

  /** Removes a session that owns no nodes and will own none. */
  forget(session: bigint): void {
    this.#ephemerals.delete(session)
  }

  ephemeralsOf(session: bigint): string[] {
    return [...(this.#ephemerals.get(session) ?? [])]
  }

  /** Sessions that own nodes or have owned some, with the paths that they own now. */
  get ephemerals(): ReadonlyMap<bigint, ReadonlySet<string>> {
    return this.#ephemerals
  }

  /**
   * Returns the containers and the nodes with a ttl that the server may delete (ContainerManager.getCandidates).
   * @param now milliseconds since 1970
   */
  removable(now: number): string[] {
    return [...this.#removable].filter(path => {
      const { kind, children, created, mtime } = this.get(path)
      if (children.size > 0) return false
      return kind.is === 'ttl' ? now - mtime > kind.ttl : created > 0
    })
  }

  /** Counts the descendants of a path. */
  countBelow(path: string): number {
    if (path === '/') return this.size - 1
    let count = 0
    for (const each of this.#nodes.keys()) if (each.startsWith(path + '/')) count++
    return count
  }

  /** @param place the place among the children of the parent; default: the last */
  #add(path: string, node: Node, place?: number): void {
    this.#nodes.set(path, node)
    this.get(parentOf(path)).children.add(nameOf(path), place)
    if (node.kind.is === 'ephemeral') {
      const paths = this.#ephemerals.get(node.kind.session)
      if (paths === undefined) this.#ephemerals.set(node.kind.session, new Set([path]))
      else paths.add(path)
    } else if (node.kind.is !== 'persistent') {
      this.#removable.add(path)
    }
  }

  /** Returns the place that the node had among the children of its parent. */
  #remove(path: string): number | undefined {
    const { kind } = this.get(path)
    this.#nodes.delete(path)
    this.#removable.delete(path)
    if (kind.is === 'ephemeral') this.#ephemerals.get(kind.session)?.delete(path)
    return this.get(parentOf(path)).children.delete(nameOf(path))
  }
}

function nodeOf({ zxid = 0n, time = 0, ...content }: NodeContent & { zxid?: bigint; time?: number }): Node {
  return {
    ...content,
    ...{ children: new Children(), created: 0, version: 0, aversion: 0 },
    ...{ czxid: zxid, mzxid: zxid, pzxid: zxid, ctime: time, mtime: time },
  }
}

const sizeOf = ({ data }: Node): number => data?.length ?? 0

export const statOf = (node: Node): Stat => ({
  czxid: node.czxid,
  mzxid: node.mzxid,
  ctime: node.ctime,
  mtime: node.mtime,
  version: node.version,
  // Each created child counts once, and each deleted one once more (DataNode.copyStat).
  cversion: (node.created * 2 - node.children.size) | 0,
  aversion: node.aversion,
  ephemeralOwner: node.kind.is === 'ephemeral' ? node.kind.session : 0n,
  dataLength: sizeOf(node),
  numChildren: node.children.size,
  pzxid: node.pzxid,
})

/** Returns the suffix of a sequential node's name: ten digits, or a minus sign and at least nine digits. */
export const sequenceSuffix = (created: number): string =>
  created < 0 ? `-${String(-created).padStart(9, '0')}` : String(created).padStart(10, '0')
