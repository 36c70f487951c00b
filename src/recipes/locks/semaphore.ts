// A lock with a number of permits: that many holders may hold it at the same time.
import { checked, inBackground, newPace } from '../../client/recipe-support.ts'
import { join, parentOf } from '../../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import { inScope } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments, countProblem } from '../call/arguments.ts'
import { retriedAfterCleanUp, waitingRead, type WaitOptions } from '../call/cancellable.ts'
import type { Children } from '../node/children.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { OwnNodes } from '../node/own-nodes.ts'
import { namingOf, sequenceAfter, type Naming } from '../queue/dialect.ts'
import { LockQueue, type ContenderNode } from '../queue/lock-queue.ts'
import type { Turn } from '../queue/turn.ts'
import { HerdWaiter } from '../queue/waiter.ts'
import { acquiring } from './acquiring.ts'
import { NodeHeld, type Held, type HoldOptions } from './held.ts'
import { acquireOptionChecks, useLock, Lock, type AcquireOptions } from './lock.ts'
import { Mutex } from './mutex.ts'
import { lockOptionChecks, type LockOptions } from './queue-lock.ts'

/** Curator calls a permit's node a lease. */
const leases: Naming = { prefix: uuid => `_c_${uuid}-lease-`, sequenceOf: sequenceAfter('lease-') }

/**
 * Options of `acquire`, `tryAcquire` and `use` of a {@link Semaphore}.
 * @example
 * const memory = new Semaphore(zk, '/permits/gigabytes', 8)
 * const options: SemaphoreAcquireOptions = { permits: 3, timeout: 10_000 }
 * await memory.use(() => memory.available(), options) // => 5
 */
export interface SemaphoreAcquireOptions extends AcquireOptions {
  /**
   * How many permits the call takes, 1 to `count`: all of them or none. Each has a node of its own, so that every client
   * counts them. They are released together. If one of the nodes is deleted, all count as lost. Default: 1.
   */
  permits?: number | undefined
}

/**
 * A contender in the gate, with a node for each permit that it takes. It waits until there are no more nodes than
 * permits.
 */
class PermitWaiter extends HerdWaiter {
  readonly #count: number

  constructor(queue: LockQueue, count: number, permits: number) {
    const others = Array.from({ length: permits - 1 }, () => queue.newNode())
    super(queue, permits === 1 ? queue.newNode() : new OwnNodes(queue.planOf(), others))
    this.#count = count
  }

  /**
   * Counts all nodes, and not only those of holders. So every holder was granted its permits by a list with no more nodes
   * than permits, which contained the nodes of all holders. The gate is needed for the order, not for safety.
   */
  protected override turnIn({ children }: Children): Turn {
    const isTaken = (name: string) => this.queue.names.sequenceOf(name) !== undefined
    if (!this.ownNode.nodes.every(({ name }) => children.includes(name))) return { status: 'gone' }
    return children.filter(isTaken).length <= this.#count ? { status: 'first' } : { status: 'waiting', predecessor: '' }
  }

  protected override async listAndDecide(signal: AbortSignal): Promise<Turn> {
    return this.turnIn(await this.queue.list({ signal }))
  }

  /** The caller has looked before it entered the gate. */
  protected override isFree(): Promise<boolean> {
    return Promise.resolve(true)
  }
}

interface GateOptions extends HoldOptions {
  signal: AbortSignal
  /** True if the call waits for a free permit. */
  waits: boolean
}

/**
 * A lock with `count` permits, of which each holder has one or several. Its nodes are those of Curator's
 * InterProcessSemaphoreV2. A {@link Mutex} at `<path>/locks` is the gate. Its holder creates a node for each permit below
 * `<path>/leases`, waits until at most `count` nodes are there, and leaves the gate. So the semaphore is fair, and only
 * the holder of the gate watches the directory. A semaphore with one permit is Curator's InterProcessSemaphoreMutex.
 *
 * Each client compares with its own number of permits, so give all clients the same. A client with a larger number lets
 * more holders in. A client with a smaller number waits longer in the gate, and delays later contenders even if permits
 * are free for them.
 *
 * A call may take several permits at once. A caller that holds some and waits for more can wait for another one that does
 * the same, for ever.
 * @example
 * const permits = new Semaphore(zk, '/permits', 2)
 * await using held = await permits.acquire()
 * await permits.available() // => 1
 */
export class Semaphore extends Lock {
  /** How many permits there are. */
  readonly count: number
  readonly #gate: Mutex
  readonly #queue: LockQueue
  readonly #checks: Checks<SemaphoreAcquireOptions>

  /**
   * @param count how many permits there are, 1 or more; the same for all clients
   * @throws ZooKeeperError BADARGUMENTS
   */
  constructor(client: Client, path: string, count: number, options: LockOptions = {}) {
    const problems = [countProblem(count), optionsProblem(options, lockOptionChecks)]
    checkArguments('Semaphore', client, path, ...problems)
    super(client, path)
    this.count = count
    this.#checks = {
      ...acquireOptionChecks,
      permits: mustBe(
        `an integer from 1 to ${count}, the count of the semaphore`,
        value => Number.isInteger(value) && value >= 1 && value <= count,
      ),
    }
    this.#gate = new Mutex(client, join(path, 'locks'), { ...options, lookAhead: false })
    this.#queue = new LockQueue(client, join(path, 'leases'), namingOf(leases), options)
  }

  /**
   * Waits for one permit, or as many as the option `permits` says. The calls are served in the order in which they enter
   * the gate: one that takes many permits is not overtaken by later ones that take few. Creates missing nodes above the
   * semaphore. If the call fails, it rejects at once. Its nodes and its watches are then removed in the background.
   * @throws RecipeError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError, for example BADARGUMENTS,
   * SESSIONEXPIRED, NOAUTH
   * @example
   * const permits = new Semaphore(zk, '/permits', 5)
   * await using held = await permits.acquire({ permits: 3, timeout: 10_000 })
   * await permits.available() // => 2
   */
  override async acquire(options: SemaphoreAcquireOptions = {}): Promise<Held> {
    const { onQueued, permits = 1, ...holdOptions } = checked('acquire', this.path, options, this.#checks)
    const waiter = new PermitWaiter(this.#queue, this.count, permits)
    const work = async (signal: AbortSignal) => {
      const pace = newPace(this.#queue.client)
      await this.#ensurePath(signal)
      for (;;) {
        const gate = await this.#gate.acquire({ signal, watchOwnNode: true, onQueued })
        const held = await this.#enter(gate, waiter, { ...holdOptions, signal, waits: true })
        if (held !== null) return held
        await pace.wait(signal)
      }
    }
    const others = permits === 1 ? 'other contenders hold all permits' : 'other contenders hold too many of the permits'
    const waitsFor = (isAnswered: boolean) => (isAnswered ? others : undefined)
    const call = { op: 'acquire', path: this.path, options, checks: this.#checks, waitsFor }
    return acquiring(this.#queue.client, call, waiter, work)
  }

  /**
   * Acquires a permit, or as many as the option `permits` says, if they are free. Resolves with null if they are not, or
   * if another contender is in the gate, even one that only passes through. So some of many simultaneous calls may
   * resolve with null although there are permits for all. The nodes of a call that resolves with null are removed. Throws
   * as {@link acquire}.
   */
  override async tryAcquire(options: SemaphoreAcquireOptions = {}): Promise<Held | null> {
    const { onQueued, permits = 1, ...holdOptions } = checked('tryAcquire', this.path, options, this.#checks)
    const waiter = new PermitWaiter(this.#queue, this.count, permits)
    const { client } = this.#queue
    const work = async (signal: AbortSignal) => {
      const pace = newPace(client)
      for (;;) {
        if ((await client.retry(() => this.#available(signal), { signal })) < permits) return null
        await this.#ensurePath(signal)
        const gate = await this.#gate.tryAcquire({ signal, watchOwnNode: true, onQueued })
        const held = gate && (await this.#enter(gate, waiter, { ...holdOptions, signal, waits: false }))
        // If the gate was lost, that says nothing of the permits, and the session may have ended.
        if (held !== null || gate?.signal.aborted !== true) return held
        await pace.wait(signal)
      }
    }
    const call = { op: 'tryAcquire', path: this.path, options, checks: this.#checks }
    return acquiring(client, call, waiter, retriedAfterCleanUp(client, this.path, work))
  }

  override use<T>(fn: (held: Held) => T | Promise<T>, options: SemaphoreAcquireOptions = {}): Promise<T> {
    return useLock(this, fn, options, this.#checks)
  }

  /**
   * Reads the holders, in the order in which they entered the gate. A holder of several permits is listed once for each.
   * The last one may still wait for its permits in the gate. Throws as for other locks.
   * @example
   * const semaphore = new Semaphore(zk, '/permits', 2, { id: 'host-1' })
   * await using held = await semaphore.acquire()
   * await semaphore.contenders().then(all => all.map(({ id }) => id)) // => ['host-1']
   */
  override contenders(options: WaitOptions = {}): Promise<ContenderNode[]> {
    const call = { op: 'contenders', path: this.path, options }
    return waitingRead(this.#queue.client, call, signal => this.#queue.contenders({ signal }))
  }

  /**
   * Reads how many permits are free: 0 to `count`. The number may change before the promise resolves. Waits through
   * lost connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * const semaphore = new Semaphore(zk, '/permits', 2)
   * await using held = await semaphore.acquire()
   * await semaphore.available() // => 1
   */
  available(options: WaitOptions = {}): Promise<number> {
    const call = { op: 'available', path: this.path, options }
    return waitingRead(this.#queue.client, call, signal => this.#available(signal))
  }

  async #available(signal: AbortSignal): Promise<number> {
    const { children } = await this.#queue.list({ signal })
    const taken = children.filter(name => this.#queue.names.sequenceOf(name) !== undefined)
    return Math.max(0, this.count - taken.length)
  }

  /** Creates the node above the gate and the permits. They give their ACL to their directories only. */
  async #ensurePath(signal: AbortSignal): Promise<void> {
    const { client, acl } = this.#queue
    if (acl === undefined) return
    await ensureDirectory(client, parentOf(this.#queue.directory), { mode: 'container', acl, signal })
  }

  /** Takes a permit as {@link #takePermit}, and leaves the gate. */
  async #enter(gate: Held, waiter: PermitWaiter, entry: GateOptions): Promise<Held | null> {
    let held: Held | null = null
    try {
      held = await this.#takePermit(gate, waiter, entry)
      return held
    } finally {
      const leaving = gate.release()
      // The holder of a permit does not wait for the reply, because the list of the permits alone grants a permit.
      if (held === null) await leaving
      else inBackground(this.#queue.client, leaving)
    }
  }

  /**
   * Returns null, without a node, if the call does not wait and no permit is free, or if the gate is lost. The gate is
   * lost when the lease of the session ends, so no permit is granted in a session that is presumed lost.
   */
  async #takePermit(gate: Held, waiter: PermitWaiter, entry: GateOptions): Promise<Held | null> {
    const { signal, waits, ...options } = entry
    const { ownNode } = waiter
    try {
      const isGranted = await inScope([signal, gate.signal], async ended => {
        if (!waits) return waiter.tryTurn(ended)
        await waiter.waitForTurn(ended)
        return true
      })
      if (isGranted) return new NodeHeld(this.#queue.client, this.path, ownNode, options)
    } catch (error) {
      const isGateLost = gate.signal.aborted && !signal.aborted
      if (!isGateLost) throw error
    }
    // If the gate was lost, our node must not stay. The next contender in the gate would count it, as we would count its
    // node, and neither would be granted a permit.
    await ownNode.remove()
    return null
  }
}
