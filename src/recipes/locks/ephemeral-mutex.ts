// The lock that is a single node: the client that creates it holds the lock. Kept for measuring and teaching.
import {
  callLater,
  clockOf,
  copyOfACL,
  isConfirmed,
  newPace,
  newUuid,
  serverPath,
  whenConfirmed,
} from '../../client/recipe-support.ts'
import { badArguments, isCode, nameOf, parentOf } from '../../protocol/index.ts'
import { optionsProblem, type Checks } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { OTHER_HOLDER, retriedAfterCleanUp, waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { readNodes } from '../node/children.ts'
import { OwnNode } from '../node/own-node.ts'
import { idIn, tag } from '../node/owner-tag.ts'
import { nextChange } from '../node/read-with-watch.ts'
import type { ContenderNode } from '../queue/lock-queue.ts'
import { acquiring } from './acquiring.ts'
import { NodeHeld, type Held } from './held.ts'
import { acquireOptionChecks, Lock, type AcquireOptions } from './lock.ts'
import { lockOptionChecks, type LockOptions } from './queue-lock.ts'

/** Without `onForeignContenders`, because the lock has no directory that could contain other nodes. */
type EphemeralMutexOptions = Omit<LockOptions, 'onForeignContenders'>

const { id, acl } = lockOptionChecks
const mutexChecks: Checks<EphemeralMutexOptions> = { id, acl }

/**
 * An exclusive lock that is a single ephemeral node, at the lock's path. A release wakes every waiter. Each then tries
 * to create the node, and one succeeds. There is no queue, so a waiter can starve. `guard()` throws UNSUPPORTED.
 * This lock is correct but wasteful: use Mutex instead.
 * @example
 * const lock = new EphemeralMutex(zk, '/locks/report')
 * await using held = await lock.acquire({ timeout: 10_000 })
 * held.path // => '/locks/report'
 */
export class EphemeralMutex extends Lock {
  readonly #view: Client
  readonly #options: EphemeralMutexOptions

  /** @throws ZooKeeperError BADARGUMENTS, also if the path is the server's root, which always exists */
  constructor(client: Client, path: string, options: EphemeralMutexOptions = {}) {
    checkArguments('EphemeralMutex', client, path, optionsProblem(options, mutexChecks))
    if (serverPath(client, path) === '/') throw refuse(path, "the server's root always exists, so it cannot be a lock")
    super(client, path)
    this.#view = client.chroot('/')
    this.#options = { id: options.id, acl: copyOfACL(options.acl) }
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const ownNode = this.#newNode()
    const holdOptions = { ...options }
    const waiter = { ownNode, wokenAt: undefined as number | undefined }
    let isTaken = false
    const work = async (signal: AbortSignal) => {
      const client = this.#view
      const pace = newPace(client)
      while (!(await this.#tryCreate(ownNode, signal))) {
        isTaken = true
        const hasWaited = await client.retry(() => nextChange(client, this.path, signal), { signal })
        waiter.wokenAt = clockOf(client).now()
        isTaken = false
        if (!hasWaited) await pace.wait(signal)
      }
      return this.#newHeld(ownNode, holdOptions)
    }
    const waitsFor = () => (isTaken ? OTHER_HOLDER : undefined)
    const call = { op: 'acquire', path: this.path, options, checks: acquireOptionChecks, waitsFor }
    return acquiring(this.#view, call, waiter, work)
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const ownNode = this.#newNode()
    const holdOptions = { ...options }
    const work = async (signal: AbortSignal) => {
      const stat = await this.#view.retry(() => this.#view.exists(this.path, { signal }), { signal })
      if (stat !== null || !(await this.#tryCreate(ownNode, signal))) return null
      return this.#newHeld(ownNode, holdOptions)
    }
    const call = { op: 'tryAcquire', path: this.path, options, checks: acquireOptionChecks }
    return acquiring(this.#view, call, { ownNode }, retriedAfterCleanUp(this.#view, this.path, work))
  }

  /**
   * Reads the holder, whose `sequence` is always 0. Resolves with an empty list if the lock is free. The waiters are not
   * known, because they have no nodes. Throws as for other locks.
   */
  override contenders(options: WaitOptions = {}): Promise<ContenderNode[]> {
    return waitingRead(this.#view, { op: 'contenders', path: this.path, options }, async signal => {
      const nodes = await readNodes(this.#view, parentOf(this.path), [nameOf(this.path)], { signal })
      const { path } = this
      return nodes.map(({ data, stat: { ephemeralOwner: session, ctime: since, czxid: token } }) => ({
        ...{ path, sequence: 0, id: idIn(data), session, since, token },
      }))
    })
  }

  /** Returns false if the node is another contender's. */
  async #tryCreate(ownNode: OwnNode, signal: AbortSignal): Promise<boolean> {
    try {
      await ownNode.create(() => Promise.resolve(), signal)
    } catch (error) {
      if (isCode(error, 'NODEEXISTS')) return false
      throw error
    }
    do {
      if (isConfirmed(this.#view)) return true
      await whenConfirmed(this.#view, signal)
    } while (await this.#view.retry(() => ownNode.existsAtServer({ signal }), { signal }))
    await ownNode.remove()
    return this.#tryCreate(ownNode, signal)
  }

  #newHeld(ownNode: OwnNode, { onQueued, ...options }: AcquireOptions): Held {
    if (onQueued !== undefined) callLater(this.#view, () => onQueued({ path: this.path, ahead: 0 }))
    return new NodeHeld(this.#view, this.path, ownNode, options)
  }

  #newNode(): OwnNode {
    const { id = '', acl } = this.#options
    const client = this.#view
    const mark = newUuid(client)
    return new OwnNode({
      ...{ client, mark, acl, sequenceOf: undefined, isUnique: false },
      path: () => this.path,
      data: tag(mark, id),
      directory: { mode: 'container', acl },
    })
  }
}

const refuse = (path: string, detail: string) => badArguments('EphemeralMutex', path, detail)
