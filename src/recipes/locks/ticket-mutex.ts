// The lock in which each waiter knows its predecessor's name without a list of the directory. So a release costs the
// same for any length of the queue.
import { inBackground, newPace, type Pace } from '../../client/recipe-support.ts'
import { isCode, MultiError, parentOf, type Stat } from '../../protocol/index.ts'
import { optionsProblem } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import { NodeHeld, type Held } from './held.ts'
import { callOf, Lock, type AcquireOptions } from './lock.ts'
import { RecipeError } from '../node/recipe-error.ts'
import { OwnNode, type NodeFactory } from '../node/own-node.ts'
import { contendersIn, nodeFactoryOf, childNames, queueOf, type ContenderNode, type LockQueue } from '../queue/queue.ts'
import { lockOptionChecks, type LockOptions } from './queue-lock.ts'
import { TicketLives } from './ticket-lives.ts'
import { TicketWait } from './ticket-wait.ts'
import { aheadOf, areOnlyEarlierGone, onListed, releasedAs, releasedIn, tickets, type Ahead } from './ticket.ts'
import { foreignContenderReport } from '../queue/foreign-contenders.ts'

/**
 * An exclusive lock whose cost does not grow with the queue. Contenders draw tickets: numbered nodes without a uuid in
 * a persistent directory, so that each contender knows the names of those before it. A holder that releases the lock
 * writes its number into the directory's data. So a waiter learns before its predecessor's release that the next turn
 * is its own, and the next holder has the lock one round trip after the release.
 *
 * The directory is below the lock's node, which has the directory's random name as its data. If the directory was
 * deleted, or its numbers are used up, contenders create another one with a new name. So no two tickets ever have the
 * same path, and `guard()` works. Other data of the lock's node is overwritten.
 *
 * No other recipe may use the lock's node, and contenders need all permissions on it except ADMIN. (Without WRITE on
 * the directory, the next contender must list it after each release.) `acquire` and `tryAcquire` reject with a
 * RecipeError UNSUPPORTED if the lock's node has contenders of an older version of this package, because contenders of
 * the two versions do not wait for each other.
 * @example
 * await using held = await new TicketMutex(zk, '/locks/orders').acquire()
 * await new TicketMutex(other, '/locks/orders').tryAcquire() // => null
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
      while (!(await ticket.waitForTurn(await ticket.draw(signal), signal)));
      return ticket.hold(options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    const { client } = this.#queue
    const ticket = new Ticket(this.#queue, this.#lives)
    return withCleanup(client, callOf('tryAcquire', this.path, options), ticket.ownNode, async signal => {
      if (await client.retry(() => ticket.isTaken(signal), { signal })) return null
      let position = await ticket.draw(signal)
      if (position === 'usedUp' && (await ticket.tryRenew(signal))) position = await ticket.draw(signal)
      if (await ticket.isFirst(position, signal)) return ticket.hold(options)
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

/**
 * Where a new ticket is in the queue. `firstIfThere`: no ticket is ahead, but the own one may have been deleted before
 * that was read. `usedUp`: its number cannot be used, because it was the last one.
 */
type Position = Ahead | 'first' | 'firstIfThere' | 'gone' | 'usedUp'

/** One contender. It draws tickets until one has its turn. */
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

  async draw(signal: AbortSignal): Promise<Position> {
    await this.#enter(this.#lives.known, signal)
    try {
      const directory = await this.ownNode.create(() => this.#readDirectory(signal), signal)
      if (directory === null) return 'gone'
      const ahead = aheadOf(this.#number, this.#before(directory.released))
      return ahead ?? (areOnlyEarlierGone(this.#number, directory.stat) ? 'first' : 'firstIfThere')
    } catch (error) {
      if (error instanceof RecipeError && error.code === 'EXHAUSTED') return 'usedUp'
      throw error
    }
  }

  /** Resolves with true when the lock can be held, and with false when another ticket must be drawn. */
  async waitForTurn(position: Position, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#lock
    if (position === 'first' && !client.leaseSignal.aborted) return true
    if (position !== 'gone' && position !== 'usedUp') {
      const contender = {
        queue: this.#queue,
        ownNode: this.ownNode,
        number: this.#number,
        readReleased: async () => this.#before((await this.#readDirectory(signal))?.released),
      }
      const ahead = position === 'first' || position === 'firstIfThere' ? undefined : position
      const waiting = new TicketWait(contender, ahead, signal)
      if (await waiting.wait()) return true
      waiting.stop()
    }
    // What was read may be older than the ticket, which must then be removed.
    await this.ownNode.remove()
    if (position === 'usedUp') await this.#renew(signal)
    else await this.#pace.wait(signal)
    return false
  }

  /** Returns true if the lock can be held now. Does not wait for other contenders. */
  async isFirst(position: Position, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#lock
    if (position === 'gone' || position === 'usedUp') return false
    const list = async () => onListed(this.#number, await childNames(this.#queue, { signal })) === 'first'
    if (position !== 'first' && !(await client.retry(list, { signal }))) return false
    return !client.leaseSignal.aborted
  }

  /** Begins the next life, if the present one has no other ticket. */
  async tryRenew(signal: AbortSignal): Promise<boolean> {
    await this.ownNode.remove()
    if (!(await this.#lock.client.retry(() => this.#lives.replace(this.#life), { signal }))) return false
    await this.#lives.find(signal)
    return true
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

  /** Begins the next life as soon as the present one has no ticket. */
  async #renew(signal: AbortSignal): Promise<void> {
    await this.#lives.replaceWhenEmpty(this.#life, signal)
    await this.#lives.find(signal)
  }

  /** @param known the life to enter; undefined if the server must be asked */
  async #enter(known: string | undefined, signal: AbortSignal): Promise<void> {
    this.#life = known ?? (await this.#lives.find(signal))
    this.#queue = { ...this.#lock, directory: this.#lives.directoryOf(this.#life) }
  }

  /** Reads which ticket was released last. Returns null if there is no directory. */
  async #readDirectory(signal: AbortSignal): Promise<{ released: number | undefined; stat: Stat } | null> {
    try {
      const { data, stat } = await this.#queue.client.getData(this.#queue.directory, { signal })
      return { released: releasedIn(data), stat }
    } catch (error) {
      if (isCode(error, 'NONODE')) return null
      throw error
    }
  }

  /** Ignores numbers that cannot have been released before our ticket has its turn. */
  #before(released: number | undefined): number | undefined {
    return released !== undefined && released < this.#number ? released : undefined
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
