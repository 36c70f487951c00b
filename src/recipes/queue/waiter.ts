// The queue of a lock: nodes in one directory. This file: a contender, from its first request to its turn.
// May import: recipes/node, client/index.ts, client/recipe-support.ts, options, protocol, runtime.
import {
  callLater,
  clockOf,
  connectionsOf,
  inBackground,
  isConfirmed,
  keepConfirmed,
  newPace,
  whenConfirmed,
} from '../../client/recipe-support.ts'
import { join, parentOf } from '../../protocol/index.ts'
import { listChildren, type Children } from '../node/children.ts'
import type { OwnNode } from '../node/own-node.ts'
import { nextChange, readWatched } from '../node/read-with-watch.ts'
import type { LockQueue, QueuePlace } from './lock-queue.ts'
import { countBlocking, turnOf, type Ahead, type Turn } from './turn.ts'

/**
 * How a wait has ended. `turn`: it is the contender's turn. `event`: its turn may have come, so what it reads next
 * decides. `noWait`: the same, but the server has answered at once that there is nothing to wait for.
 */
export type WaitOutcome = 'turn' | 'event' | 'noWait'

/**
 * One contender. Its subclasses differ in the nodes that it watches, and so in the waiters that a release wakes.
 *
 * `R` is what a contender reads to learn whose turn it is.
 */
export abstract class Waiter<R> {
  readonly ownNode: OwnNode
  protected readonly queue: LockQueue
  /** When the last wait for other contenders has ended, by the client's clock. Undefined if there was none. */
  wokenAt: number | undefined
  /** True if a contender was ahead when the queue was read last. */
  isBlocked = false
  /** Called each time when the contender has entered the queue. */
  onQueued: ((place: QueuePlace) => unknown) | undefined

  constructor(queue: LockQueue, ownNode = queue.newNode()) {
    this.queue = queue
    this.ownNode = ownNode
  }

  /**
   * Enters the queue, and resolves when no contender ahead blocks this one.
   * @param signal ends the wait when it aborts, and removes the watches on other nodes
   */
  async waitForTurn(signal: AbortSignal): Promise<void> {
    const { client } = this.queue
    const pace = newPace(client)
    let turn = await this.#enter(signal)
    for (;;) {
      const { status } = turn
      this.isBlocked = status === 'waiting'
      if (status === 'gone') {
        // Another client deleted our node, or what was read is older than the node. In the second case the node exists,
        // so remove it. Then queue again at the end.
        await this.ownNode.remove()
        await pace.wait(signal)
        turn = await this.#enter(signal)
        continue
      }
      let woken: WaitOutcome = 'turn'
      if (status === 'waiting') {
        woken = await this.#waitThroughLosses(turn, signal)
        this.wokenAt = clockOf(client).now()
      }
      if (woken === 'turn' && (await this.#confirmTurn(signal))) return
      if (woken === 'noWait') await pace.wait(signal)
      turn = await this.turnIn(await client.retry(() => this.read(signal), { signal }), signal)
    }
  }

  /**
   * Enters the queue if no contender blocks this one, and returns true. Does not wait. Writes nothing if the queue is not
   * free. If another contender was faster, removes the node in the background and returns false.
   */
  async tryTurn(signal: AbortSignal): Promise<boolean> {
    const { client } = this.queue
    if (!(await client.retry(() => this.isFree(signal), { signal }))) return false
    let turn = await this.#enter(signal)
    // What was read may be older than the node.
    if (turn.status !== 'first') turn = await client.retry(() => this.listAndDecide(signal), { signal })
    while (turn.status === 'first') {
      if (await this.#confirmTurn(signal)) return true
      turn = await client.retry(() => this.listAndDecide(signal), { signal })
    }
    inBackground(client, this.ownNode.remove())
    return false
  }

  async #enter(signal: AbortSignal): Promise<Turn> {
    const read = await this.ownNode.create(() => this.read(signal), signal)
    const turn = this.turnIn(read, signal)
    const { onQueued } = this
    if (onQueued !== undefined && (await turn).status !== 'gone') {
      const place = { path: this.ownNode.node.path, ahead: this.countAhead(read) }
      callLater(this.queue.client, () => onQueued(place))
    }
    return turn
  }

  /**
   * Waits for the contenders ahead, through lost connections. A contender with only one ahead keeps its session confirmed,
   * so that it can hold the lock at once.
   */
  async #waitThroughLosses(ahead: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    const { client } = this.queue
    const stop = ahead.second === undefined ? keepConfirmed(client) : undefined
    try {
      return await client.retry(() => this.wait(ahead, signal), { signal })
    } finally {
      stop?.()
    }
  }

  /**
   * Waits until the leader has confirmed the session, so that the contender may rely on its turn. Returns false if the
   * connection was lost meanwhile: the turn must then be read again.
   */
  async #confirmTurn(signal: AbortSignal): Promise<boolean> {
    const { client } = this.queue
    const connections = connectionsOf(client)
    while (!isConfirmed(client)) {
      await whenConfirmed(client, signal)
      if (connectionsOf(client) !== connections) return false
    }
    return true
  }

  /** Decides whose turn it is by a new list of the queue, which sets no watch. */
  protected async listAndDecide(signal: AbortSignal): Promise<Turn> {
    const { node } = this.ownNode
    return turnOf(await listChildren(this.queue.client, parentOf(node.path), { signal }), node, this.queue)
  }

  /** Returns true if no contender would block one that enters the queue now. */
  protected async isFree(signal: AbortSignal): Promise<boolean> {
    const { names, blocks } = this.queue
    const last = { name: '', sequence: Infinity }
    const { children } = await this.queue.list({ signal })
    return !children.some(name => {
      const sequence = names.sequenceOf(name)
      return sequence !== undefined && blocks({ name, sequence }, last)
    })
  }

  /** Sends the request before it returns. */
  protected abstract read(signal: AbortSignal): Promise<R>

  /** Decides whose turn it is by what was read. */
  protected abstract turnIn(read: R, signal: AbortSignal): Turn | Promise<Turn>

  /** Returns how many contenders block this one, by what was read when its node was created. */
  protected abstract countAhead(read: R): number

  /** Waits until the turn has come, or may have come. */
  protected abstract wait(ahead: Ahead, signal: AbortSignal): Promise<WaitOutcome>
}

/** A contender that watches the nearest one that blocks it. So in an exclusive lock, a release wakes one waiter. */
export class PredecessorWaiter extends Waiter<Children> {
  protected override read(signal: AbortSignal): Promise<Children> {
    return listChildren(this.queue.client, this.queue.directory, { signal })
  }

  protected override turnIn(list: Children): Turn {
    return this.queue.turnOf(list, this.ownNode.node)
  }

  protected override countAhead(list: Children): number {
    return countBlocking(list, this.ownNode.node, this.queue)
  }

  protected override async wait({ predecessor }: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    const { client, directory } = this.queue
    return (await nextChange(client, join(directory, predecessor), signal)) ? 'event' : 'noWait'
  }
}

/** A contender that watches the directory: each release and each new contender wakes all waiters. */
export class HerdWaiter extends PredecessorWaiter {
  #changed: Promise<void> | undefined

  override async read(signal: AbortSignal): Promise<Children> {
    const { value, changed } = await readWatched(signal, options => this.queue.list(options))
    this.#changed = changed
    return value
  }

  override async wait(): Promise<WaitOutcome> {
    await this.#changed
    return 'event'
  }
}
