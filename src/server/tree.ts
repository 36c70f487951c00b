// The tree of nodes. It knows how a change is counted, not who may make it: that is for operations to decide (DataTree of the server).
import { eventTypes, nameOf, parentOf, perms, type ACL, type Stat } from '../protocol/index.ts'
import { RequestError } from './refusal.ts'
import type { TreeTransaction } from './transaction.ts'

/** How long a node stays, when nobody deletes it. */
export type NodeKind =
  | { is: 'persistent' }
  | { is: 'ephemeral'; session: bigint }
  /** Until it had children and has none. */
  | { is: 'container' }
  /** Until it is left unchanged and childless for `ttl` ms. */
  | { is: 'ttl'; ttl: number }

export interface Node {
  data: Buffer | null
  acl: readonly ACL[]
  readonly life: NodeKind
  readonly children: Set<string>
  /** Children that were ever created, as an int: what the next sequence number is taken from. */
  created: number
  czxid: bigint
  mzxid: bigint
  pzxid: bigint
  ctime: number
  mtime: number
  version: number
  aversion: number
}

/** The nodes that every server has; they cannot be deleted (DataTree.isSpecialPath). */
export const specialPaths: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])

export class Tree {
  readonly #nodes = new Map<string, Node>()
  /** Once a session has owned a node it stands here until it is forgotten, with no path too (DataTree.ephemerals). */
  readonly #ephemerals = new Map<bigint, Set<string>>()
  readonly #reapable = new Set<string>()

  constructor() {
    const anyone = (may: number): ACL[] => [{ perms: may, id: { scheme: 'world', id: 'anyone' } }]
    for (const path of specialPaths) {
      this.#nodes.set(path, nodeOf({ data: Buffer.alloc(0), acl: anyone(perms.all), life: { is: 'persistent' } }))
      // They are not counted as created: that is why /zookeeper has a cversion of -2.
      if (path !== '/') this.get(parentOf(path)).children.add(nameOf(path))
    }
    Object.assign(this.get('/zookeeper/config'), { acl: anyone(perms.read), aversion: -1 })
  }

  get size(): number {
    return this.#nodes.size
  }

  /** Path and node, in no order. */
  get entries(): Iterable<[string, Node]> {
    return this.#nodes
  }

  find(path: string): Node | undefined {
    // The root has two names in the server's map.
    return this.#nodes.get(path === '' ? '/' : path)
  }

  /** @throws Refusal NONODE */
  get(path: string): Node {
    const node = this.find(path)
    if (node === undefined) throw new RequestError('NONODE')
    return node
  }

  /** What a sequential child is called by. Within one transaction numbers go on past their end (ChangeRecord of PrepRequestProcessor). */
  counter(tx: TreeTransaction, parent: Node): number {
    return tx.counters.get(parent) ?? parent.created
  }

  create(tx: TreeTransaction, path: string, what: Pick<Node, 'data' | 'acl' | 'life'>): Node {
    const parent = this.get(parentOf(path))
    const { created, pzxid } = parent
    const next = (this.counter(tx, parent) + 1) | 0
    tx.counters.set(parent, next)
    const node = nodeOf({ ...what, zxid: tx.zxid, time: tx.time })
    const owner = node.life.is === 'ephemeral' ? node.life.session : undefined
    const isFirst = owner !== undefined && !this.#ephemerals.has(owner)
    this.#add(path, node)
    // At its end the counter sticks, and pzxid with it: the server believes only a cversion that grew (DataTree.createNode).
    if (next > created) {
      parent.created = next
      parent.pzxid = tx.zxid
    }
    const undo = () => {
      this.#remove(path)
      if (isFirst) this.forget(owner)
      Object.assign(parent, { created, pzxid })
    }
    tx.record(undo, { type: eventTypes.NodeCreated, path, acl: node.acl, parentACL: parent.acl })
    return node
  }

  delete(tx: TreeTransaction, path: string): void {
    const node = this.get(path)
    const parent = this.get(parentOf(path))
    const { pzxid } = parent
    this.#remove(path)
    parent.pzxid = tx.zxid
    const undo = () => {
      this.#add(path, node)
      parent.pzxid = pzxid
    }
    tx.record(undo, { type: eventTypes.NodeDeleted, path, acl: node.acl, parentACL: parent.acl })
  }

  setData(tx: TreeTransaction, path: string, data: Buffer | null): Node {
    const node = this.get(path)
    const { data: before, version, mzxid, mtime } = node
    Object.assign(node, { data, version: (version + 1) | 0, mzxid: tx.zxid, mtime: tx.time })
    const undo = () => void Object.assign(node, { data: before, version, mzxid, mtime })
    tx.record(undo, { type: eventTypes.NodeDataChanged, path, acl: node.acl, parentACL: [] })
    return node
  }

  /** It changes neither mzxid nor mtime, and no watch hears of it. */
  setACL(tx: TreeTransaction, path: string, acl: readonly ACL[]): Node {
    const node = this.get(path)
    const { acl: before, aversion } = node
    Object.assign(node, { acl, aversion: (aversion + 1) | 0 })
    tx.record(() => void Object.assign(node, { acl: before, aversion }))
    return node
  }

  ephemeralsOf(session: bigint): string[] {
    return [...(this.#ephemerals.get(session) ?? [])]
  }

  /** A session that owns nothing, and will not. */
  forget(session: bigint): void {
    this.#ephemerals.delete(session)
  }

  /** Sessions that own nodes, or did, with their paths. */
  get ephemerals(): ReadonlyMap<bigint, ReadonlySet<string>> {
    return this.#ephemerals
  }

  /** Containers and nodes with a ttl that may go at `now`, by the calendar (ContainerManager.getCandidates). */
  reapable(now: number): string[] {
    return [...this.#reapable].filter(path => {
      const { life, children, created, mtime } = this.get(path)
      if (children.size > 0) return false
      return life.is === 'ttl' ? now - mtime > life.ttl : created > 0
    })
  }

  /** How many nodes are below a path, at any depth. */
  countBelow(path: string): number {
    if (path === '/') return this.size - 1
    let count = 0
    for (const each of this.#nodes.keys()) if (each.startsWith(path + '/')) count++
    return count
  }

  #add(path: string, node: Node): void {
    this.#nodes.set(path, node)
    this.get(parentOf(path)).children.add(nameOf(path))
    if (node.life.is === 'ephemeral') {
      const owned = this.#ephemerals.get(node.life.session)
      if (owned === undefined) this.#ephemerals.set(node.life.session, new Set([path]))
      else owned.add(path)
    } else if (node.life.is !== 'persistent') {
      this.#reapable.add(path)
    }
  }

  #remove(path: string): void {
    const { life } = this.get(path)
    this.#nodes.delete(path)
    this.get(parentOf(path)).children.delete(nameOf(path))
    this.#reapable.delete(path)
    if (life.is === 'ephemeral') this.#ephemerals.get(life.session)?.delete(path)
  }
}

function nodeOf({
  zxid = 0n,
  time = 0,
  ...what
}: Pick<Node, 'data' | 'acl' | 'life'> & { zxid?: bigint; time?: number }): Node {
  return {
    ...what,
    ...{ children: new Set<string>(), created: 0, version: 0, aversion: 0 },
    ...{ czxid: zxid, mzxid: zxid, pzxid: zxid, ctime: time, mtime: time },
  }
}

export const statOf = (node: Node): Stat => ({
  czxid: node.czxid,
  mzxid: node.mzxid,
  ctime: node.ctime,
  mtime: node.mtime,
  version: node.version,
  // A change for each creation, and one for each child that is gone again (DataNode.copyStat).
  cversion: (node.created * 2 - node.children.size) | 0,
  aversion: node.aversion,
  ephemeralOwner: node.life.is === 'ephemeral' ? node.life.session : 0n,
  dataLength: node.data?.length ?? 0,
  numChildren: node.children.size,
  pzxid: node.pzxid,
})

/** The name that a sequential node gets: ten digits, or a sign and ten. */
export const sequenceSuffix = (created: number): string =>
  created < 0 ? `-${String(-created).padStart(9, '0')}` : String(created).padStart(10, '0')
