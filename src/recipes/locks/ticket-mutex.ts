// The lock in which each waiter knows its predecessor's name without a list of the directory. So a release costs the
// same for any length of the queue.
import { inBackground, newPace, type Pace } from '../../client/recipe-support.ts'
import { isCode, join, MultiError } from '../../protocol/index.ts'
import { optionsProblem } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import { NodeHeld, type Held } from './held.ts'
import { callOf, Lock, type AcquireOptions } from './lock.ts'
import { OwnNode } from '../node/own-node.ts'
import {
  contendersIn,
  nodeFactoryOf,
  listChildren,
  childNames,
  queueOf,
  type ContenderNode,
  type LockQueue,
} from '../queue/queue.ts'
import { lockOptionChecks, type LockOptions } from './queue-lock.ts'
import { onDrawn, onGone, onListed, releasedAs, releasedIn, ticketName, tickets, type Next } from './ticket.ts'
import { foreignContenderReport, type ForeignContenderReport } from '../queue/foreign-contenders.ts'
import { nextChange } from '../node/read-with-watch.ts'

/**
 * An exclusive lock whose cost does not grow with the queue. Contenders draw tickets: numbered nodes without a uuid in
 * a persistent directory, so that each contender knows its predecessor's name. A holder that releases the lock writes
 * its number into the directory's data. That number shows the next contender that its predecessor held the lock, and
 * was not merely cancelled.
 *
 * No other recipe may use the directory, and contenders need READ and WRITE permission on it. (Without WRITE, the next
 * contender must list the directory after each release.) `guard()` throws UNSUPPORTED, because names repeat in a
 * directory that was deleted and created again.
 */
export class TicketMutex extends Lock {
  readonly #queue: LockQueue
  readonly #reportForeign: ForeignContenderReport

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: LockOptions = {}) {
    checkArguments('TicketMutex', client, path, optionsProblem(options, lockOptionChecks))
    super(client, path)
    const { onForeignContenders, ...rest } = options
    this.#queue = queueOf(client, path, tickets, { ...rest, directoryMode: 'persistent' })
    this.#reportForeign = foreignContenderReport(onForeignContenders)
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const ticket = new Ticket(this.#queue, this.#reportForeign)
    return withCleanup(this.#queue.client, callOf('acquire', this.path, options), ticket.ownNode, async signal => {
      for (let next = await ticket.draw(signal); next.do !== 'hold';) next = await ticket.follow(next, signal)
      return ticket.hold(options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const { client } = this.#queue
    const ticket = new Ticket(this.#queue, this.#reportForeign)
    return withCleanup(client, callOf('tryAcquire', this.path, options), ticket.ownNode, async signal => {
      if (await client.retry(() => ticket.isInUse(signal), { signal })) return null
      let next = await ticket.draw(signal)
      if (next.do !== 'hold') next = await ticket.follow({ do: 'list' }, signal)
      if (next.do === 'hold') return ticket.hold(options)
      inBackground(client, ticket.ownNode.remove())
      return null
    })
  }

  /**
   * Reads the holder and the waiters, in the order of the queue. Does not wait through lost connections.
   * @throws ZooKeeperError, for example CONNECTIONLOSS, NOAUTH, SESSIONEXPIRED
   */
  contenders(): Promise<ContenderNode[]> {
    return contendersIn(this.#queue)
  }
}

/** One contender. It carries out the decisions of ticket.ts. */
class Ticket {
  readonly ownNode: OwnNode
  readonly #queue: LockQueue
  readonly #reportForeign: ForeignContenderReport
  readonly #pace: Pace
  #isHeld = false

  constructor(queue: LockQueue, reportForeign: ForeignContenderReport) {
    this.#queue = queue
    this.#reportForeign = reportForeign
    this.#pace = newPace(queue.client)
    this.ownNode = new OwnNode(nodeFactoryOf(queue), { remove: (client, path) => this.#delete(client, path) })
  }

  get #number(): number {
    return tickets.sequenceOf(this.ownNode.node.name) ?? NaN
  }

  hold(options: AcquireOptions): Held {
    this.#isHeld = true
    return new NodeHeld(this.#queue.client, this.#queue.directory, this.ownNode, options)
  }

  async draw(signal: AbortSignal): Promise<Next> {
    const { released, czxid } = await this.ownNode.create(() => this.#readDirectory(signal), signal)
    return this.#whileConnected(onDrawn(this.#number, { isOurs: this.#isInDirectory(czxid), released }), signal)
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
        // The list may be older than the ticket, which must then be removed.
        await this.ownNode.remove()
        await this.#pace.wait(signal)
        return this.draw(signal)
    }
  }

  async isInUse(signal: AbortSignal): Promise<boolean> {
    const directory = await this.#queue.client.exists(this.#queue.directory, { signal })
    if (directory === null || directory.numChildren === 0) return false
    const names = await childNames(this.#queue, { signal })
    this.#reportForeign(this.#queue, names)
    return names.some(name => tickets.sequenceOf(name) !== undefined)
  }

  /**
   * Returns the next step. Does not grant the lock in a session that is presumed lost: waits for the connection, and
   * returns `list`.
   */
  async #whileConnected(next: Next, signal: AbortSignal): Promise<Next> {
    const { client } = this.#queue
    if (next.do !== 'hold' || !client.leaseSignal.aborted) return next
    await client.whenConnected({ signal })
    return { do: 'list' }
  }

  async #watch(ticket: number, signal: AbortSignal): Promise<Next> {
    const { client, directory } = this.#queue
    const wasThere = await nextChange(client, join(directory, ticketName(ticket)), signal)
    if (!wasThere) {
      await this.#pace.wait(signal)
      return { do: 'list' }
    }
    // The order matters: if the node is ours after the directory was read, it was ours during that read too.
    const [{ released }, isOurs] = await Promise.all([this.#readDirectory(signal), this.ownNode.isThere({ signal })])
    return onGone(ticket, { isOurs, released })
  }

  async #list(signal: AbortSignal): Promise<Next> {
    const { children, directoryCzxid } = await listChildren(this.#queue, { signal })
    this.#reportForeign(this.#queue, children)
    return onListed(this.#number, { isOurs: this.#isInDirectory(directoryCzxid), children })
  }

  /**
   * Reads which ticket was released last, and which transaction created the directory. Returns an empty object if there
   * is no directory.
   */
  async #readDirectory(signal: AbortSignal): Promise<{ released?: number | undefined; czxid?: bigint }> {
    try {
      const { data, stat } = await this.#queue.client.getData(this.#queue.directory, { signal })
      return { released: releasedIn(data), czxid: stat.czxid }
    } catch (error) {
      if (isCode(error, 'NONODE')) return {}
      throw error
    }
  }

  /** Returns true if the ticket is in the directory with this czxid, and not in an earlier one of the same path. */
  #isInDirectory(czxid: bigint | undefined): boolean {
    return czxid !== undefined && czxid < this.ownNode.node.czxid
  }

  /** Writes the number before the delete, so that a waiter woken by the delete cannot read the old number. */
  async #delete(client: Client, path: string): Promise<unknown> {
    if (!this.#isHeld) return client.delete(path)
    try {
      return await client.multi([{ setData: this.#queue.directory, data: releasedAs(this.#number) }, { delete: path }])
    } catch (error) {
      // The directory cannot be written, for example because of its ACL. The next contender must then list it.
      if (error instanceof MultiError && error.op === 'setData') return client.delete(path)
      throw error
    }
  }
}
