// A lock's queue: a directory whose children are the contenders.
import { callLater, copyOfACL, newUuid } from '../../client/recipe-support.ts'
import { join, printable, type ACL } from '../../protocol/index.ts'
import type { Client, ReadOptions } from '../../client/index.ts'
import { listChildren, readNodes, type Children } from '../node/children.ts'
import { idIn, tag } from '../node/owner-tag.ts'
import { OwnNode, type Node, type NodePlan } from '../node/own-node.ts'
import { areUnique, dialectOf, foreignContendersIn, type Naming } from './dialect.ts'
import { blocksAlways, turnOf, type Blocks, type Turn } from './turn.ts'

/**
 * A contender: the holder or a waiter.
 * @example
 * const lock = new Mutex(zk, '/locks/orders', { id: 'host-1' })
 * await using held = await lock.acquire()
 * const [holder]: ContenderNode[] = await lock.contenders()
 * holder?.session // => zk.sessionId
 * holder?.token // => held.token
 */
export interface ContenderNode {
  /** The path of its node, which `revoke()` takes. */
  path: string
  /** The number of its node. Contenders with lower numbers are earlier in the queue. */
  sequence: number
  /** Its option `id`. If another library created the node: the node's data as a string. */
  id: string
  /** The id of its session. */
  session: bigint
  /** When it entered the queue, in milliseconds since 1970 by the server's clock. A holder may have waited since. */
  since: number
  /** Its fencing token: the holder has the same as `held.token`. */
  token: bigint
}

/**
 * A contender's place in the queue of a lock, when its node has just been created.
 * @example
 * const lock = new Mutex(zk, '/locks/orders')
 * const places: QueuePlace[] = []
 * await using held = await lock.acquire({ onQueued: place => places.push(place) })
 * places // => [{ path: held.path, ahead: 0 }]
 */
export interface QueuePlace {
  /** The path of its node, as {@link ContenderNode} has it. */
  path: string
  /**
   * How many contenders were ahead and block this one: the holder and the earlier waiters, and for a reader only the
   * writers among them. Of a TicketMutex, which lists no names, it is the most that this can be. At the gate of a
   * Semaphore it counts those in the gate.
   */
  ahead: number
}

/** Receives the names of the contenders' nodes, and the path of the directory. */
type OnForeignContenders = (names: readonly string[], directory: string) => void

export interface LockQueueOptions {
  id?: string | undefined
  acl?: readonly ACL[] | undefined
  onForeignContenders?: OnForeignContenders | undefined
  blocks?: Blocks | undefined
}

/** What is different in the plan of a contender's node. */
interface NewNode extends Partial<NodePlan> {
  /** The ten digits at the end of its name. Default: the server appends the next number. */
  number?: string
}

export class LockQueue {
  readonly client: Client
  readonly directory: string
  readonly names: Naming
  readonly acl: readonly ACL[] | undefined
  readonly blocks: Blocks
  readonly #id: string
  readonly #areUnique: boolean
  readonly #onForeignContenders: OnForeignContenders
  #hasReportedForeign = false

  constructor(client: Client, directory: string, names: Naming, options: LockQueueOptions) {
    const { id = '', acl, onForeignContenders = warnOfForeignContenders, blocks = blocksAlways } = options
    // Uses a separate view, because callers may close theirs or remove its watches; the lock must still remove its node.
    this.client = client.chroot('/')
    this.directory = directory
    this.names = names
    this.acl = copyOfACL(acl)
    this.blocks = blocks
    this.#id = id
    this.#areUnique = areUnique(names)
    this.#onForeignContenders = onForeignContenders
  }

  /** Lists the directory. Reports the first contenders of another library or dialect in it, once. */
  async list(options: ReadOptions): Promise<Children> {
    const list = await listChildren(this.client, this.directory, options)
    this.#reportForeign(list.children)
    return list
  }

  /** Decides whose turn it is by a list of the directory. Reports foreign contenders as {@link list} does. */
  turnOf(list: Children, own: Node): Turn {
    const others: string[] = []
    const turn = turnOf(list, own, this, others)
    if (others.length > 0) this.#reportForeign(others)
    return turn
  }

  #reportForeign(children: readonly string[]): void {
    const foreign = this.#hasReportedForeign ? [] : foreignContendersIn(children, this.names)
    if (foreign.length === 0) return
    this.#hasReportedForeign = true
    callLater(this.client, () => this.#onForeignContenders(foreign, this.directory))
  }

  /** Reads all contenders, in the order of the queue. */
  async contenders(options: ReadOptions): Promise<ContenderNode[]> {
    const { client, directory, names } = this
    const numberOf = (name: string) => names.sequenceOf(name)
    const { children } = await this.list(options)
    const contenders = children.filter(name => numberOf(name) !== undefined)
    const nodes = await readNodes(client, directory, contenders, options)
    return nodes
      .map(({ name, path, data, stat }) => ({
        path,
        sequence: numberOf(name) ?? NaN,
        id: this.#areUnique ? (data?.toString() ?? '') : idIn(data),
        session: stat.ephemeralOwner,
        since: stat.ctime,
        token: stat.czxid,
      }))
      .sort((a, b) => a.sequence - b.sequence)
  }

  /** Returns the node of a new contender, which does not exist yet. */
  newNode(plan?: NewNode): OwnNode {
    return new OwnNode(this.planOf(plan))
  }

  /** Returns how a new contender's node is created. */
  planOf({ number, ...plan }: NewNode = {}): NodePlan {
    const { client, names, acl } = this
    const uuid = newUuid(client)
    return {
      client,
      path: () => join(this.directory, names.prefix(uuid, client.sessionId) + (number ?? '')),
      needsSession: client.sessionId === 0n && names.prefix(uuid, 0n) !== names.prefix(uuid, 1n),
      data: this.#areUnique ? this.#id : tag(uuid, this.#id),
      acl,
      sequenceOf: number === undefined ? names.sequenceOf : undefined,
      isUnique: this.#areUnique,
      mark: this.#areUnique ? undefined : uuid,
      // The server deletes an empty container. The numbers in the next directory of that path start at 0 again.
      directory: { mode: 'container', acl },
      ...plan,
    }
  }
}

const warnOfForeignContenders: OnForeignContenders = ([name = ''], directory) => {
  const dialect = dialectOf(name)
  const remedy = dialect === undefined ? '' : `use a lock with the option dialect: '${dialect}', or `
  process.emitWarning(
    printable(
      `${directory} contains nodes such as ${name}, named by another library or dialect: their owners and this lock do not wait for each other; ${remedy}use another path`,
    ),
    { code: 'ZKWIRE_FOREIGN_CONTENDERS' },
  )
}
