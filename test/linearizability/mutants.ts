// Locks with one bug each, of a kind that real locks had. Every test that judges locks must detect them.
import { join } from '../../src/protocol/index.ts'
import type { Client } from '../../src/index.ts'
import { withCleanup, waitForTurn } from '../../src/recipes/queue/acquire-loop.ts'
import type { Position, WaitStrategy } from '../../src/recipes/queue/wait-strategies.ts'
import type { AcquireOptions } from '../../src/recipes/locks/lock.ts'
import { NodeHeld, type Held } from '../../src/recipes/locks/held.ts'
import { watchPredecessor } from '../../src/recipes/queue/wait-strategies.ts'
import { OwnNode, type NodeFactory } from '../../src/recipes/node/own-node.ts'
import { nodeFactoryOf, childNames } from '../../src/recipes/queue/queue.ts'
import { ExclusiveLock } from '../../src/recipes/locks/queue-lock.ts'
import { readWatched } from '../../src/recipes/node/read-with-watch.ts'

/** Node names without a uuid, so that a node is identified only by its data and its owner. */
export const sequenceOnly = { prefix: 'x-', pattern: /^x-(\d{10})$/ }

abstract class Mutant extends ExclusiveLock {
  constructor(client: Client, path: string, waiting: WaitStrategy = watchPredecessor) {
    super(client, path, { dialect: sequenceOnly }, waiting)
  }

  protected acquireAt(ownNode: OwnNode, undo: { remove(): Promise<void> }, options: AcquireOptions): Promise<Held> {
    return withCleanup(this.queue.client, this.call('acquire', options), undo, async signal => {
      await waitForTurn(this.queue, watchPredecessor, ownNode, signal)
      return this.hold(ownNode, options)
    })
  }
}

/** Assumes that no contender is ahead any more when its predecessor's node is deleted. */
export class TakesWakeUpForGrant extends Mutant {
  constructor(client: Client, path: string) {
    const gone = new WeakMap<AbortSignal, string>()
    super(client, path, {
      async snapshot(queue, signal) {
        const { children, directoryCzxid } = await watchPredecessor.snapshot(queue, signal)
        const numberOf = (name: string) => queue.names.sequenceOf(name) ?? NaN
        const behind = gone.get(signal)
        const later = children.filter(name => behind === undefined || numberOf(name) > numberOf(behind))
        return { children: later, directoryCzxid }
      },
      waiter(queue, ownNode, signal) {
        const wait = watchPredecessor.waiter(queue, ownNode, signal)
        return async position => {
          const woken = await wait(position)
          gone.set(signal, position.predecessor)
          return woken
        }
      },
    })
  }
}

/** Takes the event of its predecessor's deletion for the grant, although other contenders may be ahead. */
export class TakesAnyEventForGrant extends Mutant {
  constructor(client: Client, path: string) {
    super(
      client,
      path,
      grantingOnEvent(() => true),
    )
  }
}

/** Looks ahead, but does not watch its own node, which may be deleted before its predecessor's. */
export class DoesNotWatchItsNode extends Mutant {
  constructor(client: Client, path: string) {
    super(
      client,
      path,
      grantingOnEvent(({ second }) => second === undefined),
    )
  }
}

/** Returns a strategy that takes the event for the turn if `isTurn` returns true. */
function grantingOnEvent(isTurn: (position: Position) => boolean): WaitStrategy {
  return {
    ...watchPredecessor,
    waiter(queue, ownNode, signal) {
      const wait = watchPredecessor.waiter(queue, ownNode, signal)
      return async position => ((await wait(position)) === 'event' && isTurn(position) ? 'turn' : 'event')
    },
  }
}

/** After a lost reply to its create, adopts the first node in the directory as its own (CURATOR-498). */
export class AdoptsFirstNode extends Mutant {
  override acquire(options: AcquireOptions = {}): Promise<Held> {
    const { queue } = this
    const find: NodeFactory['find'] = async () => {
      const [first] = (await childNames(queue)).toSorted()
      if (first === undefined) return undefined
      const path = join(queue.directory, first)
      const stat = await queue.client.exists(path)
      return stat === null ? undefined : { path, stat }
    }
    const ownNode = new OwnNode({ ...nodeFactoryOf(queue), find })
    return this.acquireAt(ownNode, ownNode, options)
  }
}

/** Does not delete its node when the attempt is cancelled. */
export class LeaksItsNode extends Mutant {
  override acquire(options: AcquireOptions = {}): Promise<Held> {
    return this.acquireAt(new OwnNode(nodeFactoryOf(this.queue)), { remove: () => Promise.resolve() }, options)
  }
}

/** Assumes that its delete succeeded if the connection was lost. */
export class IgnoresFailedDelete extends Mutant {
  protected override hold(ownNode: OwnNode, options: AcquireOptions): Held {
    const { client } = this.queue
    ownNode.remove = () => client.delete(ownNode.node.path).catch(() => undefined)
    return new NodeHeld(client, this.path, ownNode, options)
  }
}

/** Uses the node's sequence number as the fencing token. */
export class UsesSequenceAsToken extends Mutant {
  protected override hold(ownNode: OwnNode, options: AcquireOptions): Held {
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
    super(client, path, {
      ...watchPredecessor,
      waiter:
        ({ client, directory }) =>
        ({ predecessor }) =>
          new Promise((resolve, reject) => {
            const watch = () => resolve('event')
            client.exists(join(directory, predecessor), { watch }).then(stat => {
              if (stat === null) resolve('atOnce')
            }, reject)
          }),
    })
  }
}

/**
 * Watches with exists, and waits for a change even if the node is already deleted. Only a new node of that name wakes
 * it.
 */
export class MissesTheDelete extends Mutant {
  constructor(client: Client, path: string) {
    super(client, path, {
      ...watchPredecessor,
      waiter:
        ({ client, directory }, _ownNode, signal) =>
        async ({ predecessor }) => {
          const path = join(directory, predecessor)
          const { changed } = await readWatched(signal, options => client.exists(path, options))
          await changed
          return 'event'
        },
    })
  }
}

/** Believes that it holds the lock even after its session has expired. */
export class IgnoresItsLoss extends Mutant {
  protected override hold(ownNode: OwnNode, options: AcquireOptions): Held {
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
