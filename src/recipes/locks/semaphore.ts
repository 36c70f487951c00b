// A number of permits, for those who may work at the same time.
import { badArguments, join, pathProblem } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import type { WaitStrategy } from '../queue/wait-strategies.ts'
import type { AcquireOptions } from './lock.ts'
import { sequenceAfter, namesOf, type Naming } from '../queue/dialect.ts'
import { NodeHeld, type Held, type HoldOptions } from './held.ts'
import { watchDirectory } from '../queue/wait-strategies.ts'
import { Lock } from './lock.ts'
import { Mutex } from './mutex.ts'
import { OwnNode } from '../node/own-node.ts'
import { contendersIn, endOfQueue, childNames, queueOf, type ContenderNode, type LockQueue } from '../queue/queue.ts'
import type { LockOptions } from './queue-lock.ts'
import { reportForeignContenders } from '../queue/foreign-contenders.ts'

const curators: Naming = { prefix: uuid => `_c_${uuid}-lease-`, sequenceOf: sequenceAfter('lease-') }

/**
 * Is one's own lease good, by all that there are? All that hold one see each other's: whoever of them came last has counted them all. So the
 * gate is for order, not for safety.
 */
function grantOf(leases: readonly string[], own: string, count: number): 'granted' | 'full' | 'gone' {
  if (!leases.includes(own)) return 'gone'
  return leases.length <= count ? 'granted' : 'full'
}

interface GateOptions extends HoldOptions {
  signal: AbortSignal
  /** Waits for a lease where none is free. */
  isPatient: boolean
}

/**
 * A lock that `leases` may hold at once, laid out as Curator's InterProcessSemaphoreV2: a {@link Mutex} at `locks` is the gate, and whoever is
 * in the gate puts his lease into `leases`, waits there until no more than `leases` are, and leaves the gate. So it is fair, and only the
 * one in the gate watches anything but a predecessor. With one lease it is Curator's InterProcessSemaphoreMutex.
 *
 * Each goes by the number that he was given himself. Where users differ, one of the larger number may come in beside as many as that
 * number allows; and one of a smaller number who stands in the gate holds up those behind him until few enough hold a lease for him, also
 * where there would be enough for them.
 */
export class Semaphore extends Lock {
  /** How many may hold it at once. */
  readonly permits: number
  readonly #gate: Mutex
  readonly #queue: LockQueue
  readonly #waiting: WaitStrategy

  /** @throws ZooKeeperError BADARGUMENTS where the path is none, or the number of leases no positive integer */
  constructor(client: Client, path: string, leases: number, options: LockOptions = {}) {
    super(client, path)
    const isNumber = Number.isSafeInteger(leases) && leases >= 1
    const problem = pathProblem(path) ?? (isNumber ? undefined : `leases is a positive integer, not ${String(leases)}`)
    if (problem !== undefined) throw badArguments('Semaphore', path, problem)
    this.permits = leases
    this.#gate = new Mutex(client, join(path, 'locks'), options)
    this.#queue = queueOf(client, join(path, 'leases'), namesOf(curators, path), options)
    this.#waiting = reportForeignContenders(watchDirectory, options.onForeignContenders)
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const ownNode = new OwnNode(endOfQueue(this.#queue))
    return withCleanup(this.#queue.client, this.path, ownNode, options, async signal => {
      for (;;) {
        const gate = await this.#gate.acquire({ signal, watchOwnNode: true })
        const held = await this.#enter(gate, ownNode, { ...options, signal, isPatient: true })
        if (held !== null) return held
      }
    })
  }

  /**
   * A lease, or null where none is free or the gate is taken, be it by one who is just passing through: of many who try at once, some come
   * away with nothing though there are leases for all. What is written at the gate is taken back. Throws as {@link acquire}.
   */
  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const ownNode = new OwnNode(endOfQueue(this.#queue))
    return withCleanup(this.#queue.client, this.path, ownNode, options, async signal => {
      if ((await this.#available(signal)) === 0) return null
      const gate = await this.#gate.tryAcquire({ signal, watchOwnNode: true })
      return gate && this.#enter(gate, ownNode, { ...options, signal, isPatient: false })
    })
  }

  /** Who holds a lease, in the order in which they took it; the last may be one who stands in the gate and waits for another to go. */
  contenders(): Promise<ContenderNode[]> {
    return contendersIn(this.#queue)
  }

  /** How many leases are left. It may have changed when the answer comes. */
  available(): Promise<number> {
    return this.#available()
  }

  async #available(signal?: AbortSignal): Promise<number> {
    const options = signal && { signal }
    const children = await this.#queue.client.retry(() => childNames(this.#queue, options), { signal })
    return Math.max(0, this.permits - this.#leasesIn(children).length)
  }

  /** Through the gate with a lease; null, with nothing left, where none is free for somebody impatient or something is lost on the way. */
  async #enter(gate: Held, ownNode: OwnNode, entry: GateOptions): Promise<Held | null> {
    const held = await this.#takeLease(gate, ownNode, entry)
    if (!held?.signal.aborted) return held
    // The session had to be presumed lost while the gate was given back.
    await held.release()
    return null
  }

  async #takeLease(gate: Held, ownNode: OwnNode, { signal, isPatient, ...options }: GateOptions): Promise<Held | null> {
    const ended = AbortSignal.any([signal, gate.signal])
    try {
      const isGranted = await this.#isGranted(ownNode, isPatient, ended)
      if (isGranted) return new NodeHeld(this.#queue.client, this.path, ownNode, options)
      await ownNode.remove()
      return null
    } catch (error) {
      await ownNode.remove()
      // Whoever came in through a gate that was lost counts our lease as we count his: neither would ever be granted his own.
      const isGateLost = gate.signal.aborted && !signal.aborted
      if (isGateLost) return null
      throw error
    } finally {
      await gate.release()
    }
  }

  async #isGranted(ownNode: OwnNode, isPatient: boolean, signal: AbortSignal): Promise<boolean> {
    const look = () => this.#waiting.snapshot(this.#queue, signal)
    let seen = await ownNode.create(look, signal)
    for (;;) {
      switch (grantOf(this.#leasesIn(seen.children), ownNode.node.name, this.permits)) {
        case 'granted':
          return true
        case 'full':
          if (!isPatient) return false
          await seen.changed
          seen = await this.#queue.client.retry(look, { signal })
          break
        case 'gone':
          // Somebody deleted our lease; or the list is older than it, and then it must not stay.
          await ownNode.remove()
          seen = await ownNode.create(look, signal)
      }
    }
  }

  #leasesIn(children: readonly string[]): string[] {
    return children.filter(name => this.#queue.names.sequenceOf(name) !== undefined)
  }
}
