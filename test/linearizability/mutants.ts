// Locks with one bug each, of a kind that real locks had. A random simulation must detect each of them.
import { isCode, join } from '../../src/protocol/index.ts'
import type { Client } from '../../src/index.ts'
import type { AcquireOptions } from '../../src/recipes/locks/lock.ts'
import { NodeHeld, type Held } from '../../src/recipes/locks/held.ts'
import { QueueLock, type NewWaiter } from '../../src/recipes/locks/queue-lock.ts'
import { cancellable } from '../../src/recipes/call/cancellable.ts'
import type { Children } from '../../src/recipes/node/children.ts'
import { readWatched } from '../../src/recipes/node/read-with-watch.ts'
import { namingOf } from '../../src/recipes/queue/dialect.ts'
import { LockQueue } from '../../src/recipes/queue/lock-queue.ts'
import type { Ahead } from '../../src/recipes/queue/turn.ts'
import { PredecessorWaiter, type Waiter, type WaitOutcome } from '../../src/recipes/queue/waiter.ts'

/** Node names without a uuid, so that a node is identified only by its data and its owner. */
const sequenceOnly = { prefix: 'x-', pattern: /^x-(\d{10})$/ }

const newPredecessorWaiter: NewWaiter = queue => new PredecessorWaiter(queue)

abstract class Mutant extends QueueLock {
  constructor(client: Client, path: string, newWaiter = newPredecessorWaiter) {
    super(client, new LockQueue(client, path, namingOf(sequenceOnly), {}), newWaiter)
  }
}

/** Assumes that no contender is ahead any more when its predecessor's node is deleted. */
export class TakesWakeUpForGrant extends Mutant {
  constructor(client: Client, path: string) {
    super(client, path, queue => new SkipsAllBefore(queue))
  }
}

class SkipsAllBefore extends PredecessorWaiter {
  #behind: string | undefined

  protected override async read(signal: AbortSignal): Promise<Children> {
    const { children, directoryCzxid } = await super.read(signal)
    const numberOf = (name: string) => this.queue.names.sequenceOf(name) ?? NaN
    const behind = this.#behind
    const later = children.filter(name => behind === undefined || numberOf(name) > numberOf(behind))
    return { children: later, directoryCzxid }
  }

  protected override async wait(ahead: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    const woken = await super.wait(ahead, signal)
    this.#behind = ahead.predecessor
    return woken
  }
}

/** Takes the event of its predecessor's deletion for the grant, although other contenders may be ahead. */
export class TakesAnyEventForGrant extends Mutant {
  constructor(client: Client, path: string) {
    super(client, path, queue => new GrantsOnEvent(queue, () => true))
  }
}

/** Looks ahead, but does not watch its own node, which may be deleted before its predecessor's. */
export class DoesNotWatchItsNode extends Mutant {
  constructor(client: Client, path: string) {
    super(client, path, queue => new GrantsOnEvent(queue, ({ second }) => second === undefined))
  }
}

/** Takes an event for the turn if `isTurn` returns true. */
class GrantsOnEvent extends PredecessorWaiter {
  readonly #isTurn: (ahead: Ahead) => boolean

  constructor(queue: LockQueue, isTurn: (ahead: Ahead) => boolean) {
    super(queue)
    this.#isTurn = isTurn
  }

  protected override async wait(ahead: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    return (await super.wait(ahead, signal)) === 'event' && this.#isTurn(ahead) ? 'turn' : 'event'
  }
}

/** After a lost reply to its create, adopts the first node in the directory as its own (CURATOR-498). */
export class AdoptsFirstNode extends Mutant {
  constructor(client: Client, path: string) {
    super(client, path, queue => new PredecessorWaiter(queue, queue.newNode({ create: createOrAdopt(queue) })))
  }
}

const createOrAdopt =
  ({ client, directory, acl }: LockQueue) =>
  async (path: string, data: string) => {
    try {
      return await client.create(path, data, { mode: 'ephemeralSequential', acl })
    } catch (error) {
      if (!isCode(error, 'CONNECTIONLOSS')) throw error
      const { children } = await client.retry(() => client.getChildren(directory))
      const [first] = children.toSorted()
      const found = first === undefined ? null : await client.retry(() => client.exists(join(directory, first)))
      if (first === undefined || found === null) throw error
      return { path: join(directory, first), stat: found }
    }
  }

/** Does not delete its node when the attempt is cancelled. */
export class LeaksItsNode extends Mutant {
  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const waiter = new PredecessorWaiter(this.queue)
    return cancellable(
      this.queue.client,
      { op: 'acquire', path: this.path, options, checks: this.checks },
      async signal => {
        await waiter.waitForTurn(signal)
        return this.newHeld(waiter, options)
      },
    )
  }
}

/** Assumes that its delete succeeded if the connection was lost. */
export class IgnoresFailedDelete extends Mutant {
  protected override newHeld({ ownNode }: Waiter<unknown>, options: AcquireOptions): Held {
    const { client } = this.queue
    ownNode.remove = () => client.delete(ownNode.node.path).catch(() => undefined)
    return new NodeHeld(client, this.path, ownNode, options)
  }
}

/** Uses the node's sequence number as the fencing token. */
export class UsesSequenceAsToken extends Mutant {
  protected override newHeld({ ownNode }: Waiter<unknown>, options: AcquireOptions): Held {
    const number = this.queue.names.sequenceOf(ownNode.node.name) ?? 0
    return new NodeHeld(this.queue.client, this.path, ownNode, { ...options, token: BigInt(number) })
  }
}

/**
 * Watches with exists, and does not remove the watch if the node is already deleted. The watch then stays at the server
 * until the node is created again.
 */
export class LeavesItsWatch extends Mutant {
  constructor(client: Client, path: string) {
    super(client, path, queue => new WatchesForEver(queue))
  }
}

class WatchesForEver extends PredecessorWaiter {
  protected override wait({ predecessor }: Ahead): Promise<WaitOutcome> {
    const { client, directory } = this.queue
    return new Promise((resolve, reject) => {
      const watch = () => resolve('event')
      client.exists(join(directory, predecessor), { watch }).then(stat => {
        if (stat === null) resolve('noWait')
      }, reject)
    })
  }
}

/**
 * Watches with exists, and waits for a change even if the node is already deleted. Only a new node of that name wakes
 * it.
 */
export class MissesTheDelete extends Mutant {
  constructor(client: Client, path: string) {
    super(client, path, queue => new WaitsForAnyChange(queue))
  }
}

class WaitsForAnyChange extends PredecessorWaiter {
  protected override async wait({ predecessor }: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    const { client, directory } = this.queue
    const path = join(directory, predecessor)
    const { changed } = await readWatched(signal, options => client.exists(path, options))
    await changed
    return 'event'
  }
}

/** Believes that it holds the lock even after its session has expired. */
export class IgnoresItsLoss extends Mutant {
  protected override newHeld({ ownNode }: Waiter<unknown>, options: AcquireOptions): Held {
    return new HeldWithoutLoss(this.queue.client, this.path, ownNode, options)
  }
}

class HeldWithoutLoss extends NodeHeld {
  override get signal(): AbortSignal {
    return new AbortController().signal
  }
  override validFor(): number {
    return Infinity
  }
}
