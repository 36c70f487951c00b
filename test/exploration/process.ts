// A client's process in an explored world: its connections, its timers, and the steps of its caller.
import type { ConnectOptions, Dial } from '../../src/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { Fingerprint } from './fingerprint.ts'
import { Link } from './link.ts'
import { ProcessClock, type WorldTime } from './process-clock.ts'

/**
 * What can be held back. `answers`: what the server sends to this process. `requests`: what it sends to the server.
 * `process`: everything that happens in it, as if it were stopped.
 */
export type HeldBack = 'answers' | 'requests' | 'process'

export class Process {
  readonly name: string
  readonly clock: ProcessClock
  readonly options: ConnectOptions
  /** The connections, the present one last. */
  readonly links: Link[] = []
  /** A hash of all that was delivered to this process, in its order. It determines the state of the process. */
  readonly history = new Fingerprint()
  /** The session, for the fault that ends it. */
  session = 0n
  heldBack: HeldBack | undefined
  heldSince = 0
  /** Aborts the present call of the caller; undefined if it has no call that waits. */
  abort: AbortController | undefined
  /** The reason with which the caller gives up. */
  readonly gaveUp = new Error('the caller gives up')
  /** The next step of the caller, which happens when the explorer chooses it. */
  next: { what: string; go: () => void } | undefined
  isDone = false

  constructor(name: string, time: WorldTime, dial: Dial, seed: number) {
    this.name = name
    this.clock = new ProcessClock(time)
    this.options = {
      clock: this.clock,
      random: seededRandom(seed),
      dial: (address, handler) => {
        const link = new Link(dial, address, handler)
        this.links.push(link)
        return link
      },
    }
  }

  /** The caller goes on when the explorer chooses this step. */
  step(what: string): Promise<void> {
    return new Promise(resolve => {
      this.next = { what, go: resolve }
    })
  }

  /** Runs a call whose signal the explorer may abort. */
  async abortable<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = (this.abort = new AbortController())
    try {
      return await call(abort.signal)
    } finally {
      if (this.abort === abort) this.abort = undefined
    }
  }

  /** The connections that the client has: one, and for a moment another one with which it looks for a server. */
  get open(): readonly Link[] {
    return this.links.filter(({ isLeft }) => !isLeft)
  }

  /** The connection on which a packet of the server can be delivered. */
  get receiving(): Link | undefined {
    return this.heldBack === 'answers' ? undefined : this.open.find(({ down }) => down.length > 0)
  }

  /** The connections on which a request can reach the server. */
  get sending(): readonly Link[] {
    return this.heldBack === 'requests' ? [] : this.open.filter(({ up }) => up.length > 0)
  }

  get isStopped(): boolean {
    return this.heldBack === 'process'
  }

  /**
   * True if the client in this process can do something without the server. The next step of its caller does not count:
   * it can happen before or after what the server sends meanwhile.
   */
  get isReady(): boolean {
    return !this.isStopped && (this.receiving !== undefined || this.clock.isDue)
  }

  receive(): void {
    const { receiving: link } = this
    link?.addTo(this.history, 1)
    link?.deliverDown()
  }

  goOn(): void {
    const { next } = this
    this.next = undefined
    this.history.add(`step ${next?.what}`)
    next?.go()
  }

  resume(): void {
    this.heldBack = undefined
    this.history.add('resume')
    for (const link of this.open) link.join()
  }
}
