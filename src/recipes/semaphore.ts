// A number of permits, for those who may work at the same time.
import { badArguments, join, pathProblem } from '../protocol/index.ts'
import type { Client } from '../session/index.ts'
import { contend, type AcquireOptions, type Waiting } from './contend.ts'
import { behind, namesOf, type Naming } from './dialect.ts'
import { NodeHeld, type Held, type HoldOptions } from './held.ts'
import { inTheHerd } from './herd-mutex.ts'
import { Lock } from './lock.ts'
import { Mutex } from './mutex.ts'
import { Place } from './place.ts'
import { contendersIn, endOf, namesIn, queueOf, type ContenderInfo, type Queue } from './queue.ts'
import type { LockOptions } from './queue-lock.ts'
import { reportStrangers } from './strangers.ts'

const curators: Naming = { prefix: uuid => `_c_${uuid}-lease-`, sequenceOf: behind('lease-') }

/**
 * Is one's own lease good, by all that there are? All that hold one see each other's: whoever of them came last has counted them all. So the
 * gate is for order, not for safety.
 */
function grantOf(leases: readonly string[], own: string, count: number): 'granted' | 'full' | 'gone' {
  if (!leases.includes(own)) return 'gone'
  return leases.length <= count ? 'granted' : 'full'
}

interface Entry extends HoldOptions {
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
  readonly leases: number
  readonly #gate: Mutex
  readonly #queue: Queue
  readonly #waiting: Waiting

  /** @throws ZooKeeperError BADARGUMENTS where the path is none, or the number of leases no positive integer */
  constructor(client: Client, path: string, leases: number, options: LockOptions = {}) {
    super(client, path)
    const isNumber = Number.isSafeInteger(leases) && leases >= 1
    const problem = pathProblem(path) ?? (isNumber ? undefined : `leases is a positive integer, not ${String(leases)}`)
    if (problem !== undefined) throw badArguments('Semaphore', path, problem)
    this.leases = leases
    this.#gate = new Mutex(client, join(path, 'locks'), options)
    this.#queue = queueOf(client, join(path, 'leases'), namesOf(curators, path), options)
    this.#waiting = reportStrangers(inTheHerd, options.onStrangers)
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const place = new Place(endOf(this.#queue))
    return contend(this.#queue.client, this.path, place, options, async signal => {
      for (;;) {
        const gate = await this.#gate.acquire({ signal, watchOwnNode: true })
        const held = await this.#enter(gate, place, { ...options, signal, isPatient: true })
        if (held !== null) return held
      }
    })
  }

  /**
   * A lease, or null where none is free or the gate is taken, be it by one who is just passing through: of many who try at once, some come
   * away with nothing though there are leases for all. What is written at the gate is taken back. Throws as {@link acquire}.
   */
  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const place = new Place(endOf(this.#queue))
    return contend(this.#queue.client, this.path, place, options, async signal => {
      if ((await this.#available(signal)) === 0) return null
      const gate = await this.#gate.tryAcquire({ signal, watchOwnNode: true })
      return gate && this.#enter(gate, place, { ...options, signal, isPatient: false })
    })
  }

  /** Who holds a lease, in the order in which they took it; the last may be one who stands in the gate and waits for another to go. */
  contenders(): Promise<ContenderInfo[]> {
    return contendersIn(this.#queue)
  }

  /** How many leases are left. It may have changed when the answer comes. */
  available(): Promise<number> {
    return this.#available()
  }

  async #available(signal?: AbortSignal): Promise<number> {
    const options = signal && { signal }
    const children = await this.#queue.client.retry(() => namesIn(this.#queue, options), { signal })
    return Math.max(0, this.leases - this.#leasesIn(children).length)
  }

  /** Through the gate with a lease; null, with nothing left, where none is free for somebody impatient or something is lost on the way. */
  async #enter(gate: Held, place: Place, entry: Entry): Promise<Held | null> {
    const held = await this.#takeLease(gate, place, entry)
    if (!held?.signal.aborted) return held
    // The session had to be presumed lost while the gate was given back.
    await held.release()
    return null
  }

  async #takeLease(gate: Held, place: Place, { signal, isPatient, ...options }: Entry): Promise<Held | null> {
    const ended = AbortSignal.any([signal, gate.signal])
    try {
      const isGranted = await this.#isGranted(place, isPatient, ended)
      if (isGranted) return new NodeHeld(this.#queue.client, this.path, place, options)
      await place.leave()
      return null
    } catch (error) {
      await place.leave()
      // Whoever came in through a gate that was lost counts our lease as we count his: neither would ever be granted his own.
      const isGateLost = gate.signal.aborted && !signal.aborted
      if (isGateLost) return null
      throw error
    } finally {
      await gate.release()
    }
  }

  async #isGranted(place: Place, isPatient: boolean, signal: AbortSignal): Promise<boolean> {
    const look = () => this.#waiting.look(this.#queue, signal)
    let seen = await place.take(look, signal)
    for (;;) {
      switch (grantOf(this.#leasesIn(seen.children), place.node.name, this.leases)) {
        case 'granted':
          return true
        case 'full':
          if (!isPatient) return false
          await seen.changed
          seen = await this.#queue.client.retry(look, { signal })
          break
        case 'gone':
          // Somebody deleted our lease; or the list is older than it, and then it must not stay.
          await place.leave()
          seen = await place.take(look, signal)
      }
    }
  }

  #leasesIn(children: readonly string[]): string[] {
    return children.filter(name => this.#queue.names.sequenceOf(name) !== undefined)
  }
}
