// The lock that is one node: whoever creates it has it, and everybody else watches it. Kept to be measured and taught.
import { badArguments, isCode, parentOf, type Stat } from '../protocol/index.ts'
import { checked } from '../session/arguments.ts'
import type { Client, ReadOptions } from '../session/index.ts'
import { contend, type AcquireOptions } from './contend.ts'
import { makeDirectory } from './directory.ts'
import { NodeHeld, type Held } from './held.ts'
import { Lock } from './lock.ts'
import { isMarked, marked, unmarked } from './mark.ts'
import { Place, type Spot } from './place.ts'
import type { ContenderInfo } from './queue.ts'
import type { LockOptions } from './queue-lock.ts'
import { watched } from './watched.ts'

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
    if (client.serverPath(path) === '/') throw refuse(path, 'the root is always there')
    this.#view = client.chroot('/')
    this.#options = checked('lock', path, options)
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const place = this.#place()
    return contend(this.#view, this.path, place, options, async signal => {
      while (!(await this.#take(place, signal))) await this.#view.retry(() => this.#goes(signal), { signal })
      return new NodeHeld(this.#view, this.path, place, options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const place = this.#place()
    return contend(this.#view, this.path, place, options, async signal => {
      const isTaken = await this.#view.retry(() => this.#view.exists(this.path, { signal }), { signal })
      if (isTaken !== null || !(await this.#take(place, signal))) return null
      return new NodeHeld(this.#view, this.path, place, options)
    })
  }

  /** Who holds the lock; who waits for it, nobody can tell. */
  async contenders(): Promise<ContenderInfo[]> {
    const node = await this.#read()
    if (node === undefined) return []
    return [{ path: this.path, sequence: 0, data: unmarked(node.data), session: node.stat.ephemeralOwner }]
  }

  /** False where somebody else has the node. */
  async #take(place: Place, signal: AbortSignal): Promise<boolean> {
    try {
      await place.take(() => Promise.resolve(), signal)
    } catch (error) {
      if (isCode(error, 'NODEEXISTS')) return false
      throw error
    }
    if (!this.#view.lease.aborted) return true
    // The session came back after it had to be presumed lost, and the node may be older than that.
    await place.leave()
    return this.#take(place, signal)
  }

  /** Resolves when the node that was there is gone, or may be. */
  async #goes(signal: AbortSignal): Promise<void> {
    const { value, changed } = await watched(signal, options => this.#read(options))
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

  #place(): Place {
    const { data = '', acl } = this.#options
    const client = this.#view
    const path = this.path
    const uuid = client.uuid()
    const spot: Spot = {
      client,
      isUnique: false,
      create: () => client.create(path, marked(uuid, data), { mode: 'ephemeral', ...(acl && { acl }) }),
      find: async () => {
        const [, node] = await Promise.all([client.sync(path), this.#read()])
        const isOurs = node?.stat.ephemeralOwner === client.sessionId && isMarked(node.data, uuid)
        return isOurs ? { path, stat: node.stat } : undefined
      },
      makeParent: signal => this.#makeParent(signal),
    }
    return new Place(spot)
  }

  async #makeParent(signal: AbortSignal): Promise<void> {
    // A view makes its root with what is missing above it: a node that nobody holds, and that would be in everybody's way for ever.
    if (this.path === '/') throw refuse(this.path, 'there is no node in which the root could be made')
    await makeDirectory(this.#view, parentOf(this.path), { mode: 'container', acl: this.#options.acl, signal })
  }
}

const refuse = (path: string, detail: string) => badArguments('EphemeralMutex', path, detail)
