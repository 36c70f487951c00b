// Contenders of one lock, at an embedded server in virtual time.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { Mutex, TicketMutex, type Held, type MutexOptions } from '../../../src/recipes/index.ts'
import type { FaultKind } from '../../../src/server/index.ts'
import { turns } from '../../support/turns.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

export interface Contender {
  client: Client
  path: string
  held: Promise<Held>
  stop: AbortController
  isHolding: boolean
}

export class Contenders extends VirtualServer {
  readonly #lock: 'Mutex' | 'TicketMutex'

  private constructor(lock: 'Mutex' | 'TicketMutex') {
    super({})
    this.#lock = lock
  }

  static async of(lock: 'Mutex' | 'TicketMutex'): Promise<Contenders> {
    const contenders = new Contenders(lock)
    await contenders.begin()
    return contenders
  }

  /** Fails if a contender has left a node. */
  override async close(): Promise<void> {
    await this.settled()
    expect(this.nodes).to.deep.equal([])
    await super.close()
  }

  lock(client: Client, options: MutexOptions = {}): Mutex | TicketMutex {
    return this.#lock === 'Mutex' ? new Mutex(client, '/lock', options) : new TicketMutex(client, '/lock', options)
  }

  /** Creates the directory of the nodes, so that it does not get the ACL of the first contender. */
  async createDirectory(): Promise<void> {
    await this.until(this.lock(await this.open()).use(() => undefined))
  }

  async join(client: Client, options?: MutexOptions): Promise<Contender> {
    const before = new Set(this.nodes)
    const stop = new AbortController()
    const held: Promise<Held> = this.lock(client, options).acquire({ signal: stop.signal })
    const contender = { client, path: '', held, stop, isHolding: false }
    held.then(
      () => (contender.isHolding = true),
      () => undefined,
    )
    await turns()
    contender.path = this.nodes.find(path => !before.has(path)) ?? ''
    return contender
  }

  async queueUp(size: number): Promise<[Contender, Contender, Contender, Contender]> {
    const contenders: Contender[] = []
    for (let i = 0; i < size; i++) contenders.push(await this.join(await this.open()))
    return contenders as [Contender, Contender, Contender, Contender]
  }

  async release({ held }: Contender): Promise<void> {
    await this.until((await this.until(held, { within: 60_000 })).release())
  }

  /** Fails unless the contender, whose node was deleted, has queued again and holds the lock with another node. */
  async expectNewNode(contender: Contender): Promise<void> {
    const held = await this.until(contender.held, { within: 60_000 })
    expect(held.path).not.to.equal(contender.path)
    expect(held.signal.aborted).to.equal(false)
    await this.until(held.release())
  }

  /** The nodes of the contenders, in the order of the queue. */
  get nodes(): string[] {
    return this.ephemerals.sort((a, b) => a.slice(-10).localeCompare(b.slice(-10)))
  }

  /** Returns a function that counts the replies to an operation from now on, in all sessions. */
  countOf(operation: FaultKind): () => number {
    let count = 0
    const wait = async (): Promise<void> => {
      await this.server.faults.delay(operation, 0).triggered
      count++
      await wait()
    }
    wait().catch(() => undefined)
    return () => count
  }
}

/** Deletes the nodes of two contenders in one transaction, that of the waiter first. */
export const deleteBoth = (waiter: Contender, holder: Contender) =>
  holder.client.multi([{ delete: waiter.path }, { delete: holder.path }])
