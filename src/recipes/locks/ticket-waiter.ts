// One contender of a TicketMutex. It draws tickets until one has its turn. It finds out before its predecessor's end
// whether that is its turn, so the next holder has the lock one round trip after the release.
import { isCode, join, MultiError, nameOf, parentOf, type Stat } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { listChildren, type Children } from '../node/children.ts'
import type { LockQueue } from '../queue/lock-queue.ts'
import { LookAhead } from '../queue/look-ahead.ts'
import { turnOf, type Ahead, type Turn } from '../queue/turn.ts'
import { Waiter, type WaitOutcome } from '../queue/waiter.ts'
import type { NodeHeld } from './held.ts'
import type { TicketLives } from './ticket-lives.ts'
import * as ticket from './ticket.ts'

/** What the server returned for the directory of a life: the ticket that was released last, and the Stat. */
interface DirectoryRead {
  released: number
  stat: Stat
}

/** The directory of the life in which one contender draws its tickets. */
class TicketDirectory {
  readonly #client: Client
  readonly #lives: TicketLives
  #life = ''
  /** What the contender has got at its turn. */
  held: NodeHeld | undefined

  constructor(client: Client, lives: TicketLives) {
    this.#client = client
    this.#lives = lives
  }

  get path(): string {
    return this.#lives.directoryOf(this.#life)
  }

  /** Enters the life that the session knows. It may have ended: then creating a ticket in it rejects with NONODE. */
  async enter(signal: AbortSignal): Promise<void> {
    this.#life = this.#lives.known ?? (await this.#lives.find(signal))
  }

  async enterPresent(signal: AbortSignal): Promise<void> {
    this.#life = await this.#lives.find(signal)
  }

  /** Enters the next life as soon as the present one, whose numbers are used up, has no ticket. */
  async enterNext(signal: AbortSignal): Promise<void> {
    await this.#lives.replaceWhenEmpty(this.#life, signal)
    await this.enterPresent(signal)
  }

  /** Enters the next life, and returns true, if the present one has no ticket. */
  async tryEnterNext(signal: AbortSignal): Promise<boolean> {
    if (!(await this.#client.retry(() => this.#lives.replace(this.#life), { signal }))) return false
    await this.enterPresent(signal)
    return true
  }

  /** Returns null if there is no directory. */
  async read(signal: AbortSignal): Promise<DirectoryRead | null> {
    try {
      const { data, stat } = await this.#client.getData(this.path, { signal })
      return { released: ticket.releasedIn(data), stat }
    } catch (error) {
      if (isCode(error, 'NONODE')) return null
      throw error
    }
  }

  /** Returns true if the directory was created together with the lock's node: there was no other one before. */
  async isFirst({ czxid }: Stat, signal: AbortSignal): Promise<boolean> {
    return (await this.#client.exists(parentOf(this.path), { signal }))?.czxid === czxid
  }

  /**
   * Writes the number before the delete, so that a waiter woken by the delete cannot read the old number. Does not write
   * it if the lock is lost, because that is no release.
   */
  async delete(path: string): Promise<unknown> {
    if (this.held?.isLost !== false) return this.#client.delete(path)
    const data = ticket.releasedAs(ticket.numberOf(nameOf(path)))
    try {
      return await this.#client.multi([{ setData: parentOf(path), data }, { delete: path }])
    } catch (error) {
      // The directory cannot be written, for example because of its ACL. The next contender must then list it.
      if (error instanceof MultiError && error.op === 'setData') return this.#client.delete(path)
      throw error
    }
  }
}

/** Reads which ticket was released last, or the list of all tickets if only that can decide. */
export class TicketWaiter extends Waiter<DirectoryRead | Children | null> {
  readonly #directory: TicketDirectory
  readonly #lookAhead: LookAhead
  /** The ticket that was released last, as far as this contender knows; -1 if it knows none. */
  #released = -1
  /** A read of the directory that was sent together with the watch on a second ticket. */
  #reading: Promise<DirectoryRead | null> | undefined

  constructor(queue: LockQueue, lives: TicketLives) {
    const directory = new TicketDirectory(queue.client, lives)
    const ownNode = queue.newNode({
      path: () => join(directory.path, 't-'),
      isUnique: true,
      directory: undefined,
      // The life has ended.
      ensureParent: signal => directory.enterPresent(signal),
      delete: path => directory.delete(path),
    })
    super(queue, ownNode)
    this.#directory = directory
    this.#lookAhead = new LookAhead(queue.client, ownNode)
  }

  override async waitForTurn(signal: AbortSignal): Promise<void> {
    await this.#directory.enter(signal)
    while (await this.#isUsedUp(super.waitForTurn(signal))) await this.#directory.enterNext(signal)
  }

  override async tryTurn(signal: AbortSignal): Promise<boolean> {
    await this.#directory.enter(signal)
    for (;;) {
      const trying = super.tryTurn(signal)
      if (!(await this.#isUsedUp(trying))) return trying
      if (!(await this.#directory.tryEnterNext(signal))) return false
    }
  }

  /** Called at the turn of this contender, with what it got. */
  onHeld(held: NodeHeld): void {
    this.#directory.held = held
  }

  /**
   * Returns true if it is known that the former holder released the lock, or that there was none.
   * @param own the name of this contender's ticket
   */
  async followsRelease(own: string, signal: AbortSignal): Promise<boolean> {
    const former = ticket.formerOf(own, this.#lookAhead.waitedFor)
    const read = await this.#directory.read(signal)
    if (read?.released !== former) return false
    return former >= 0 || this.#directory.isFirst(read.stat, signal)
  }

  /** Returns true, without a ticket, if the numbers of the present life are used up. */
  async #isUsedUp(drawing: Promise<unknown>): Promise<boolean> {
    try {
      await drawing
      return false
    } catch (error) {
      if (!(error instanceof RecipeError && error.code === 'EXHAUSTED')) throw error
      await this.ownNode.remove()
      return true
    }
  }

  protected override async isFree(signal: AbortSignal): Promise<boolean> {
    const directory = await this.queue.client.exists(this.#directory.path, { signal })
    if (directory !== null) return directory.numChildren === 0
    await this.#directory.enterPresent(signal)
    return this.isFree(signal)
  }

  protected override read(signal: AbortSignal): Promise<DirectoryRead | Children | null> {
    const { waitedFor } = this.#lookAhead
    if (waitedFor === undefined) return this.#directory.read(signal)
    const reading = this.#reading
    this.#reading = undefined
    if (reading !== undefined) return reading
    const seen = this.#seen(waitedFor)
    if (ticket.needsList(seen)) {
      // Usually the next ticket is the head. If the list then shows only that one, its watch is set already.
      this.#lookAhead.watch(ticket.ticketName(this.#released + 1), signal)
      return listChildren(this.queue.client, this.#directory.path, { signal })
    }
    if (seen.predecessor !== 'there' && waitedFor.second !== undefined) {
      const next = ticket.previous(waitedFor.second, this.#released)
      if (next !== undefined) this.#lookAhead.watch(next, signal)
    }
    return this.#directory.read(signal)
  }

  protected override async turnIn(read: DirectoryRead | Children | null, signal: AbortSignal): Promise<Turn> {
    const { client } = this.queue
    const { node } = this.ownNode
    const { waitedFor, isOwnGone, isOwnThere } = this.#lookAhead
    if (read === null || isOwnGone) return { status: 'gone' }
    if ('children' in read) return turnOf(read, node, this.queue)
    // A larger number cannot have been released before this ticket has its turn.
    const { released } = read
    this.#released = released < ticket.numberOf(node.name) ? released : -1
    const ahead = waitedFor
      ? ticket.aheadNow(waitedFor, this.#seen(waitedFor), this.#released)
      : ticket.aheadOf(node.name, this.#released)
    if (ahead !== undefined) return { status: 'waiting', ...ahead }
    // No ticket is ahead. The own one may have been deleted before that was read.
    const isThere = waitedFor ? isOwnThere : ticket.areOnlyEarlierGone(node.name, read.stat)
    if (isThere || (await client.retry(() => this.ownNode.existsAtServer({ signal }), { signal })))
      return { status: 'first' }
    return { status: 'gone' }
  }

  protected override countAhead(read: DirectoryRead | Children | null): number {
    if (read === null || 'children' in read) return 0
    return ticket.mostAhead(this.ownNode.node.name, this.#released, read.stat)
  }

  #seen({ predecessor, second }: Ahead): ticket.StatesAhead {
    const seen = (name: string | undefined): ticket.TicketState => {
      const watch = name === undefined ? undefined : this.#lookAhead.watchOn(name)
      if (watch?.status !== 'gone') return 'there'
      return watch.hasFired ? 'left' : 'missing'
    }
    return { predecessor: seen(predecessor), second: seen(second) }
  }

  protected override async wait(ahead: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    const { second } = ahead
    const { waitedFor } = this.#lookAhead
    const isSecondNew = second !== undefined && this.#lookAhead.watchOn(second) === undefined
    this.#reading = undefined
    const waiting = this.#lookAhead.wait(ahead, signal)
    if (waitedFor !== undefined && isSecondNew) {
      // If the second ticket is missing, this shows whether it was released.
      this.#reading = this.#directory.read(signal)
      this.#reading.catch(() => undefined)
    }
    const woken = await waiting
    if (woken !== 'noWait') this.#reading = undefined
    return woken
  }
}
