// The lock in which each waiter knows its predecessor's name without a list of the directory. So a release costs the
// same for any length of the queue.
import { inBackground, newPace, type Pace } from '../../client/recipe-support.ts'
import { isCode, join, MultiError, parentOf } from '../../protocol/index.ts'
import { optionsProblem } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import { NodeHeld, type Held } from './held.ts'
import { callOf, Lock, type AcquireOptions } from './lock.ts'
import { LockError } from '../node/lock-error.ts'
import { OwnNode, type NodeFactory } from '../node/own-node.ts'
import { contendersIn, nodeFactoryOf, childNames, queueOf, type ContenderNode, type LockQueue } from '../queue/queue.ts'
import { lockOptionChecks, type LockOptions } from './queue-lock.ts'
import { TicketLives } from './ticket-lives.ts'
import { onDrawn, onGone, onListed, releasedAs, releasedIn, ticketName, tickets, type Next } from './ticket.ts'
import { foreignContenderReport } from '../queue/foreign-contenders.ts'
import { nextChange } from '../node/read-with-watch.ts'

/**
 * An exclusive lock whose cost does not grow with the queue. Contenders draw tickets: numbered nodes without a uuid in
 * a persistent directory, so that each contender knows its predecessor's name. A holder that releases the lock writes
 * its number into the directory's data. That number shows the next contender that its predecessor held the lock, and
 * was not merely cancelled.
 *
 * The tickets are in a directory below the lock's node, which has a random name. The data of the lock's node is that
 * name. If the directory was deleted, or its numbers are used up, contenders create another one, with a new name. So no
 * two tickets ever have the same path.
 *
 * No other recipe may use the lock's node, and contenders need all permissions on it except ADMIN. (Without WRITE on
 * the directory, the next contender must list it after each release.)
 */
export class TicketMutex extends Lock {
  readonly #queue: LockQueue
  readonly #lives: TicketLives

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: LockOptions = {}) {
    checkArguments('TicketMutex', client, path, optionsProblem(options, lockOptionChecks))
    super(client, path)
    const { onForeignContenders, ...rest } = options
    this.#queue = queueOf(client, path, tickets, { ...rest, directoryMode: 'persistent' })
    const report = foreignContenderReport(onForeignContenders)
    this.#lives = new TicketLives(this.#queue.client, path, {
      acl: this.#queue.acl,
      onChildren: children => report(this.#queue, children),
    })
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const ticket = new Ticket(this.#queue, this.#lives)
    return withCleanup(this.#queue.client, callOf('acquire', this.path, options), ticket.ownNode, async signal => {
      for (let next = await ticket.draw(signal); next.do !== 'hold';) next = await ticket.follow(next, signal)
      return ticket.hold(options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const { client } = this.#queue
    const ticket = new Ticket(this.#queue, this.#lives)
    return withCleanup(client, callOf('tryAcquire', this.path, options), ticket.ownNode, async signal => {
      if (await client.retry(() => ticket.isTaken(signal), { signal })) return null
      let next = await ticket.draw(signal)
      if (next.do === 'renew') next = await ticket.tryRenew(signal)
      if (next.do === 'watch') next = await ticket.follow({ do: 'list' }, signal)
      if (next.do === 'hold') return ticket.hold(options)
      inBackground(client, ticket.ownNode.remove())
      return null
    })
  }

  /**
   * Reads the holder and the waiters, in the order of the queue. Does not wait through lost connections.
   * @throws ZooKeeperError, for example CONNECTIONLOSS, NOAUTH, SESSIONEXPIRED
   */
  async contenders(): Promise<ContenderNode[]> {
    const life = await this.#lives.present()
    return life === undefined ? [] : contendersIn({ ...this.#queue, directory: this.#lives.directoryOf(life) })
  }
}

/** One contender. It carries out the decisions of ticket.ts. */
class Ticket {
  readonly ownNode: OwnNode
  readonly #lock: LockQueue
  readonly #lives: TicketLives
  readonly #pace: Pace
  /** The life in which the ticket is drawn, and its directory. */
  #life = ''
  #queue: LockQueue
  #isHeld = false

  constructor(lock: LockQueue, lives: TicketLives) {
    this.#lock = lock
    this.#queue = lock
    this.#lives = lives
    this.#pace = newPace(lock.client)
    let inLife = nodeFactoryOf(lock)
    const factory: NodeFactory = {
      client: lock.client,
      isUnique: true,
      create: () => {
        inLife = nodeFactoryOf(this.#queue)
        return inLife.create()
      },
      find: () => inLife.find(),
      // The life has ended.
      ensureParent: signal => this.#enter(undefined, signal),
      check: node => inLife.check?.(node),
    }
    this.ownNode = new OwnNode(factory, { remove: (client, path) => this.#delete(client, path) })
  }

  get #number(): number {
    return tickets.sequenceOf(this.ownNode.node.name) ?? NaN
  }

  hold(options: AcquireOptions): Held {
    this.#isHeld = true
    return new NodeHeld(this.#lock.client, this.#lock.directory, this.ownNode, options)
  }

  async draw(signal: AbortSignal): Promise<Next> {
    await this.#enter(this.#lives.known, signal)
    try {
      const released = await this.ownNode.create(() => this.#readReleased(signal), signal)
      return await this.#whileConnected(
        onDrawn(this.#number, { isOurs: released !== null, released: released ?? undefined }),
        signal,
      )
    } catch (error) {
      if (error instanceof LockError && error.code === 'EXHAUSTED') return { do: 'renew' }
      throw error
    }
  }

  async follow(next: Next, signal: AbortSignal): Promise<Next> {
    const { client } = this.#lock
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
      case 'renew':
        await this.ownNode.remove()
        await this.#lives.replaceWhenEmpty(this.#life, signal)
        await this.#lives.find(signal)
        return this.draw(signal)
    }
  }

  /** Begins the next life if the present one has no tickets, and draws one there. */
  async tryRenew(signal: AbortSignal): Promise<Next> {
    const { client } = this.#lock
    await this.ownNode.remove()
    if (!(await client.retry(() => this.#lives.replace(this.#life), { signal }))) return { do: 'renew' }
    await this.#lives.find(signal)
    return this.draw(signal)
  }

  async isTaken(signal: AbortSignal): Promise<boolean> {
    await this.#enter(this.#lives.known, signal)
    const { client } = this.#lock
    for (;;) {
      const directory = await client.exists(this.#queue.directory, { signal })
      if (directory !== null) return directory.numChildren > 0
      await this.#enter(undefined, signal)
      await this.#pace.wait(signal)
    }
  }

  /** @param known the life to enter; undefined if the server must be asked */
  async #enter(known: string | undefined, signal: AbortSignal): Promise<void> {
    this.#life = known ?? (await this.#lives.find(signal))
    this.#queue = { ...this.#lock, directory: this.#lives.directoryOf(this.#life) }
  }

  /**
   * Returns the next step. Does not grant the lock in a session that is presumed lost: waits for the connection, and
   * returns `list`.
   */
  async #whileConnected(next: Next, signal: AbortSignal): Promise<Next> {
    const { client } = this.#lock
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
    const [released, isOurs] = await Promise.all([this.#readReleased(signal), this.ownNode.isThere({ signal })])
    return onGone(ticket, { isOurs, released: released ?? undefined })
  }

  async #list(signal: AbortSignal): Promise<Next> {
    return onListed(this.#number, { isOurs: true, children: await childNames(this.#queue, { signal }) })
  }

  /** Reads which ticket was released last. Returns null if there is no directory. */
  async #readReleased(signal: AbortSignal): Promise<number | undefined | null> {
    try {
      return releasedIn((await this.#queue.client.getData(this.#queue.directory, { signal })).data)
    } catch (error) {
      if (isCode(error, 'NONODE')) return null
      throw error
    }
  }

  /** Writes the number before the delete, so that a waiter woken by the delete cannot read the old number. */
  async #delete(client: Client, path: string): Promise<unknown> {
    if (!this.#isHeld) return client.delete(path)
    try {
      return await client.multi([{ setData: parentOf(path), data: releasedAs(this.#number) }, { delete: path }])
    } catch (error) {
      // The directory cannot be written, for example because of its ACL. The next contender must then list it.
      if (error instanceof MultiError && error.op === 'setData') return client.delete(path)
      throw error
    }
  }
}
