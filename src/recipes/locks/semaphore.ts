// A lock with a number of permits: that many holders may hold it at the same time.
import { inBackground, newPace } from '../../client/recipe-support.ts'
import { join } from '../../protocol/index.ts'
import { optionsProblem } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments, countProblem } from '../node/arguments.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import { watchDirectory, type WaitStrategy } from '../queue/wait-strategies.ts'
import { sequenceAfter, namesOf, type Naming } from '../queue/dialect.ts'
import { NodeHeld, type Held, type HoldOptions } from './held.ts'
import { callOf, Lock, type AcquireOptions } from './lock.ts'
import { Mutex } from './mutex.ts'
import { OwnNode } from '../node/own-node.ts'
import { contendersIn, nodeFactoryOf, childNames, queueOf, type ContenderNode, type LockQueue } from '../queue/queue.ts'
import { lockOptionChecks, type LockOptions } from './queue-lock.ts'
import { reportingForeignContenders } from '../queue/foreign-contenders.ts'

/** Curator calls a permit's node a lease. */
const leases: Naming = { prefix: uuid => `_c_${uuid}-lease-`, sequenceOf: sequenceAfter('lease-') }

/**
 * Decides from the list of all permit nodes whether the own permit is granted. Each contender counts all nodes that
 * were created before its own. So the gate is needed for the order, not for safety.
 */
function grantOf(nodes: readonly string[], own: string, count: number): 'granted' | 'full' | 'gone' {
  if (!nodes.includes(own)) return 'gone'
  return nodes.length <= count ? 'granted' : 'full'
}

interface GateOptions extends HoldOptions {
  signal: AbortSignal
  /** True if the call waits for a free permit. */
  waits: boolean
}

/**
 * A lock that `count` holders may hold at once, with the nodes of Curator's InterProcessSemaphoreV2. A {@link Mutex}
 * at `<path>/locks` is the gate. Its holder creates a node below `<path>/leases`, waits until at most `count` nodes
 * are there, and leaves the gate. So the semaphore is fair, and only the holder of the gate watches the directory. A
 * semaphore with one permit is Curator's InterProcessSemaphoreMutex.
 *
 * Each client compares with its own number of permits, so give all clients the same. A client with a larger number lets
 * more holders in. A client with a smaller number waits longer in the gate, and delays later contenders even if permits
 * are free for them.
 * @example
 * const permits = new Semaphore(zk, '/permits', 2)
 * await using held = await permits.acquire()
 * await permits.available() // => 1
 */
export class Semaphore extends Lock {
  /** How many holders may hold the lock at once. */
  readonly count: number
  readonly #gate: Mutex
  readonly #queue: LockQueue
  readonly #strategy: WaitStrategy

  /**
   * @param count how many holders may hold the lock at once, 1 or more; the same for all clients
   * @throws ZooKeeperError BADARGUMENTS
   */
  constructor(client: Client, path: string, count: number, options: LockOptions = {}) {
    const problems = [countProblem('count', count), optionsProblem(options, lockOptionChecks)]
    checkArguments('Semaphore', client, path, ...problems)
    super(client, path)
    this.count = count
    this.#gate = new Mutex(client, join(path, 'locks'), { ...options, lookAhead: false })
    this.#queue = queueOf(client, join(path, 'leases'), namesOf(leases), options)
    this.#strategy = reportingForeignContenders(watchDirectory, options.onForeignContenders)
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const ownNode = new OwnNode(nodeFactoryOf(this.#queue))
    return withCleanup(this.#queue.client, callOf('acquire', this.path, options), ownNode, async signal => {
      const pace = newPace(this.#queue.client)
      for (;;) {
        const gate = await this.#gate.acquire({ signal, watchOwnNode: true })
        const held = await this.#enter(gate, ownNode, { ...options, signal, waits: true })
        if (held !== null) return held
        await pace.wait(signal)
      }
    })
  }

  /**
   * Acquires a permit if one is free. Resolves with null if none is free, or if another contender is in the gate, even
   * one that only passes through. So some of many simultaneous calls may resolve with null although there are permits
   * for all. The nodes of a call that resolves with null are removed. Throws as {@link acquire}.
   */
  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const ownNode = new OwnNode(nodeFactoryOf(this.#queue))
    return withCleanup(this.#queue.client, callOf('tryAcquire', this.path, options), ownNode, async signal => {
      if ((await this.#available(signal)) === 0) return null
      const gate = await this.#gate.tryAcquire({ signal, watchOwnNode: true })
      return gate && this.#enter(gate, ownNode, { ...options, signal, waits: false })
    })
  }

  /**
   * Reads the holders, in the order in which they entered the gate. The last one may still wait for its permit in the
   * gate. Does not wait through lost connections.
   * @throws ZooKeeperError, for example CONNECTIONLOSS, NOAUTH, SESSIONEXPIRED
   * @example
   * const semaphore = new Semaphore(zk, '/permits', 2, { id: 'host-1' })
   * await using held = await semaphore.acquire()
   * await semaphore.contenders().then(all => all.map(({ id }) => id)) // => ['host-1']
   */
  contenders(): Promise<ContenderNode[]> {
    return contendersIn(this.#queue)
  }

  /**
   * Reads how many permits are free: 0 to `count`. The number may change before the promise resolves.
   * @throws ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * const semaphore = new Semaphore(zk, '/permits', 2)
   * await using held = await semaphore.acquire()
   * await semaphore.available() // => 1
   */
  available(): Promise<number> {
    return this.#available()
  }

  async #available(signal?: AbortSignal): Promise<number> {
    const options = { signal }
    const children = await this.#queue.client.retry(() => childNames(this.#queue, options), { signal })
    return Math.max(0, this.count - this.#permitNodes(children).length)
  }

  /** Takes a permit as {@link #takePermit}, and leaves the gate. */
  async #enter(gate: Held, ownNode: OwnNode, entry: GateOptions): Promise<Held | null> {
    let held: Held | null = null
    try {
      held = await this.#takePermit(gate, ownNode, entry)
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
  async #takePermit(gate: Held, ownNode: OwnNode, { signal, waits, ...options }: GateOptions): Promise<Held | null> {
    const ended = AbortSignal.any([signal, gate.signal])
    try {
      const isGranted = await this.#isGranted(ownNode, waits, ended)
      if (isGranted) return new NodeHeld(this.#queue.client, this.path, ownNode, options)
      await ownNode.remove()
      return null
    } catch (error) {
      await ownNode.remove()
      // If the gate was lost, our node must not stay. The next contender in the gate would count it, as we would count
      // its node, and neither would be granted a permit.
      const isGateLost = gate.signal.aborted && !signal.aborted
      if (isGateLost) return null
      throw error
    }
  }

  async #isGranted(ownNode: OwnNode, waits: boolean, signal: AbortSignal): Promise<boolean> {
    const read = () => this.#strategy.snapshot(this.#queue, signal)
    const pace = newPace(this.#queue.client)
    let snapshot = await ownNode.create(read, signal)
    for (;;) {
      switch (grantOf(this.#permitNodes(snapshot.children), ownNode.node.name, this.count)) {
        case 'granted':
          return true
        case 'full':
          if (!waits) return false
          await snapshot.changed
          snapshot = await this.#queue.client.retry(read, { signal })
          break
        case 'gone':
          // Another client deleted our node, or the list is older than the node. In the second case the node exists, so
          // remove it. Then create another.
          await ownNode.remove()
          await pace.wait(signal)
          snapshot = await ownNode.create(read, signal)
      }
    }
  }

  #permitNodes(children: readonly string[]): string[] {
    return children.filter(name => this.#queue.names.sequenceOf(name) !== undefined)
  }
}
