// The lock in which each knows whom to wait for without a list: a release costs the same however many wait.
import { checked, inBackground } from '../../client/recipe-support.ts'
import { isCode, join, MultiError } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import type { AcquireOptions } from './lock.ts'
import { NodeHeld, type Held } from './held.ts'
import { Lock } from './lock.ts'
import { OwnNode } from '../node/own-node.ts'
import {
  contendersIn,
  endOfQueue,
  listChildren,
  childNames,
  queueOf,
  type ContenderNode,
  type LockQueue,
} from '../queue/queue.ts'
import type { LockOptions } from './queue-lock.ts'
import { onDrawn, onGone, onListed, releasedAs, releasedIn, ticketName, tickets, type Next } from './ticket.ts'
import { foreignContenderReport, type ForeignContenderReport } from '../queue/foreign-contenders.ts'
import { nextChange } from '../node/read-with-watch.ts'

/**
 * An exclusive lock whose cost does not grow with the queue. Contenders draw tickets, numbered nodes without a uuid in a persistent
 * directory, so that each knows the name of the one before; a holder writes its number into the directory's data as it gives the
 * ticket back, which tells the next that it was held and not merely dropped.
 *
 * Nobody else may use the directory, and contenders need to read and write it (where they cannot write, each release costs the next one
 * a list). `guard()` cannot be had: in a directory that was deleted and made anew, names return.
 */
export class TicketMutex extends Lock {
  readonly #queue: LockQueue
  readonly #reportStrangers: ForeignContenderReport

  constructor(client: Client, path: string, given: LockOptions = {}) {
    super(client, path)
    const { onForeignContenders, ...options } = checked('lock', path, given)
    this.#queue = queueOf(client, path, tickets, { ...options, directoryMode: 'persistent' })
    this.#reportStrangers = foreignContenderReport(onForeignContenders)
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const ticket = new Ticket(this.#queue, this.#reportStrangers)
    return withCleanup(this.#queue.client, this.path, ticket.ownNode, options, async signal => {
      for (let next = await ticket.draw(signal); next.do !== 'hold';) next = await ticket.follow(next, signal)
      return ticket.hold(options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const { client } = this.#queue
    const ticket = new Ticket(this.#queue, this.#reportStrangers)
    return withCleanup(client, this.path, ticket.ownNode, options, async signal => {
      if (await client.retry(() => ticket.isInUse(signal), { signal })) return null
      let next = await ticket.draw(signal)
      if (next.do !== 'hold') next = await ticket.follow({ do: 'list' }, signal)
      if (next.do === 'hold') return ticket.hold(options)
      inBackground(client, ticket.ownNode.remove())
      return null
    })
  }

  /** Who holds the lock and who waits for it, in their order. */
  contenders(): Promise<ContenderNode[]> {
    return contendersIn(this.#queue)
  }
}

/** One contender: what the decisions of ticket.ts ask for, done. */
class Ticket {
  readonly ownNode: OwnNode
  readonly #queue: LockQueue
  readonly #reportStrangers: ForeignContenderReport
  #isHeld = false

  constructor(queue: LockQueue, reportStrangers: ForeignContenderReport) {
    this.#queue = queue
    this.#reportStrangers = reportStrangers
    this.ownNode = new OwnNode(endOfQueue(queue), { remove: (client, path) => this.#giveBack(client, path) })
  }

  get #own(): number {
    return tickets.sequenceOf(this.ownNode.node.name) ?? NaN
  }

  hold(options: AcquireOptions): Held {
    this.#isHeld = true
    return new NodeHeld(this.#queue.client, this.#queue.directory, this.ownNode, options)
  }

  async draw(signal: AbortSignal): Promise<Next> {
    const { released, madeBy } = await this.ownNode.create(() => this.#readDirectory(signal), signal)
    return this.#whileConnected(onDrawn(this.#own, { isOurs: this.#isIn(madeBy), released }), signal)
  }

  async follow(next: Next, signal: AbortSignal): Promise<Next> {
    const { client } = this.#queue
    switch (next.do) {
      case 'hold':
        return next
      case 'watch':
        return this.#whileConnected(await client.retry(() => this.#watch(next.ticket, signal), { signal }), signal)
      case 'list':
        return this.#whileConnected(await client.retry(() => this.#list(signal), { signal }), signal)
      case 'draw':
        // The list may be older than the ticket, which must not stay then.
        await this.ownNode.remove()
        return this.draw(signal)
    }
  }

  async isInUse(signal: AbortSignal): Promise<boolean> {
    const directory = await this.#queue.client.exists(this.#queue.directory, { signal })
    if (directory === null || directory.numChildren === 0) return false
    const names = await childNames(this.#queue, { signal })
    this.#reportStrangers(this.#queue, names)
    return names.some(name => tickets.sequenceOf(name) !== undefined)
  }

  /** Nobody is granted anything in a session that must be presumed lost: when it is back, look again. */
  async #whileConnected(next: Next, signal: AbortSignal): Promise<Next> {
    const { client } = this.#queue
    if (next.do !== 'hold' || !client.leaseSignal.aborted) return next
    await client.whenConnected({ signal })
    return { do: 'list' }
  }

  async #watch(ticket: number, signal: AbortSignal): Promise<Next> {
    const { client, directory } = this.#queue
    const wasThere = await nextChange(client, join(directory, ticketName(ticket)), signal)
    if (!wasThere) return { do: 'list' }
    // In this order: a node that is ours afterwards was so when the directory was read.
    const [{ released }, isOurs] = await Promise.all([this.#readDirectory(signal), this.ownNode.isThere({ signal })])
    return onGone(ticket, { isOurs, released })
  }

  async #list(signal: AbortSignal): Promise<Next> {
    const { children, madeBy } = await listChildren(this.#queue, { signal })
    this.#reportStrangers(this.#queue, children)
    return onListed(this.#own, { isOurs: this.#isIn(madeBy), children })
  }

  /** Which ticket was given back last, and by which transaction the directory was made; neither where there is none. */
  async #readDirectory(signal: AbortSignal): Promise<{ released?: number | undefined; madeBy?: bigint }> {
    try {
      const { data, stat } = await this.#queue.client.getData(this.#queue.directory, { signal })
      return { released: releasedIn(data), madeBy: stat.czxid }
    } catch (error) {
      if (isCode(error, 'NONODE')) return {}
      throw error
    }
  }

  /** Does one's node stand in the directory that this transaction made? */
  #isIn(madeBy: bigint | undefined): boolean {
    return madeBy !== undefined && madeBy < this.ownNode.node.czxid
  }

  /** In this order, so that nobody who is woken by the delete finds the old number. */
  async #giveBack(client: Client, path: string): Promise<unknown> {
    if (!this.#isHeld) return client.delete(path)
    try {
      return await client.multi([{ setData: this.#queue.directory, data: releasedAs(this.#own) }, { delete: path }])
    } catch (error) {
      // Who may not write the directory, for whatever reason, costs the next one a list.
      if (error instanceof MultiError && error.op === 'setData') return client.delete(path)
      throw error
    }
  }
}
