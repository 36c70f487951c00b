// The lock that is one node: whoever creates it has it, and everybody else watches it. Kept to be measured and taught.
import { checked, newUuid, serverPath } from '../../client/recipe-support.ts'
import { badArguments, isCode, parentOf, type Stat } from '../../protocol/index.ts'
import type { Client, ReadOptions } from '../../client/index.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import type { AcquireOptions } from './lock.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { NodeHeld, type Held } from './held.ts'
import { Lock } from './lock.ts'
import { isTagged, tag, untag } from '../node/owner-tag.ts'
import { OwnNode, type NodeFactory } from '../node/own-node.ts'
import type { ContenderNode } from '../queue/queue.ts'
import type { LockOptions } from './queue-lock.ts'
import { readWatched } from '../node/read-with-watch.ts'

/** There is nothing beside one's node in which a stranger could stand. */
export type EphemeralMutexOptions = Omit<LockOptions, 'onStrangers'>

/**
 * An exclusive lock in one ephemeral node, the lock's path itself. A release wakes every waiter, and each of them tries to create the
 * node: all but one for nothing. There is no queue, so that a waiter may be passed over for ever. Right, and wasteful: use Mutex.
 */
export class EphemeralMutex extends Lock {
  readonly #view: Client
  readonly #options: EphemeralMutexOptions

  /** @throws ZooKeeperError BADARGUMENTS where the path is the server's root, which nobody can create */
  constructor(client: Client, path: string, options: EphemeralMutexOptions = {}) {
    super(client, path)
    if (serverPath(client, path) === '/') throw refuse(path, 'the root is always there')
    this.#view = client.chroot('/')
    this.#options = checked('lock', path, options)
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const ownNode = this.#newNode()
    return withCleanup(this.#view, this.path, ownNode, options, async signal => {
      while (!(await this.#take(ownNode, signal))) await this.#view.retry(() => this.#goes(signal), { signal })
      return new NodeHeld(this.#view, this.path, ownNode, options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const ownNode = this.#newNode()
    return withCleanup(this.#view, this.path, ownNode, options, async signal => {
      const isTaken = await this.#view.retry(() => this.#view.exists(this.path, { signal }), { signal })
      if (isTaken !== null || !(await this.#take(ownNode, signal))) return null
      return new NodeHeld(this.#view, this.path, ownNode, options)
    })
  }

  /** Who holds the lock; who waits for it, nobody can tell. */
  async contenders(): Promise<ContenderNode[]> {
    const node = await this.#read()
    if (node === undefined) return []
    return [{ path: this.path, sequence: 0, data: untag(node.data), session: node.stat.ephemeralOwner }]
  }

  /** False where somebody else has the node. */
  async #take(ownNode: OwnNode, signal: AbortSignal): Promise<boolean> {
    try {
      await ownNode.create(() => Promise.resolve(), signal)
    } catch (error) {
      if (isCode(error, 'NODEEXISTS')) return false
      throw error
    }
    if (!this.#view.leaseSignal.aborted) return true
    // The session came back after it had to be presumed lost, and the node may be older than that.
    await ownNode.remove()
    return this.#take(ownNode, signal)
  }

  /** Resolves when the node that was there is gone, or may be. */
  async #goes(signal: AbortSignal): Promise<void> {
    const { value, changed } = await readWatched(signal, options => this.#read(options))
    if (value !== undefined) await changed
  }

  /** The node, or undefined where there is none; no watch is left then. */
  async #read(options?: ReadOptions): Promise<{ data: Buffer | null; stat: Stat } | undefined> {
    try {
      return await this.#view.getData(this.path, options)
    } catch (error) {
      if (isCode(error, 'NONODE')) return undefined
      throw error
    }
  }

  #newNode(): OwnNode {
    const { data = '', acl } = this.#options
    const client = this.#view
    const path = this.path
    const uuid = newUuid(client)
    const spot: NodeFactory = {
      client,
      isUnique: false,
      create: () => client.create(path, tag(uuid, data), { mode: 'ephemeral', ...(acl && { acl }) }),
      find: async () => {
        const [, node] = await Promise.all([client.sync(path), this.#read()])
        const isOurs = node?.stat.ephemeralOwner === client.sessionId && isTagged(node.data, uuid)
        return isOurs ? { path, stat: node.stat } : undefined
      },
      ensureParent: signal => this.#makeParent(signal),
    }
    return new OwnNode(spot)
  }

  async #makeParent(signal: AbortSignal): Promise<void> {
    // A view makes its root with what is missing above it: a node that nobody holds, and that would be in everybody's way for ever.
    if (this.path === '/') throw refuse(this.path, 'there is no node in which the root could be made')
    await ensureDirectory(this.#view, parentOf(this.path), { mode: 'container', acl: this.#options.acl, signal })
  }
}

const refuse = (path: string, detail: string) => badArguments('EphemeralMutex', path, detail)
