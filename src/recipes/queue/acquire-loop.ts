// The queue of a lock: nodes in one directory. This file: wait for the turn of one's own node.
// May import: recipes/node, client/index.ts, client/recipe-support.ts, protocol.
import { inBackground } from '../../client/recipe-support.ts'
import { cancellable, type WaitOptions } from '../node/cancellable.ts'
import type { Client } from '../../client/index.ts'
import type { OwnNode } from '../node/own-node.ts'
import { childNames, type Children, type LockQueue } from './queue.ts'
import type { Snapshot, WaitStrategy } from './wait-strategies.ts'
import { turnOf, type Turn } from './turn.ts'

/**
 * One try to hold something by a node of one's own, which goes when the try fails or is given up.
 * @param lock its path, for errors
 * @param work comes to what is held, or null; it hears by its signal that it was given up or has ended
 * @throws LockError TIMEOUT; the signal's reason; what the work throws. Nothing is left behind: what was begun is taken back in the
 * background, which `client.settled()` waits for.
 */
export function withCleanup<H extends { release(): Promise<void> } | null>(
  client: Client,
  lock: string,
  node: { remove(): Promise<void> },
  options: WaitOptions,
  work: (signal: AbortSignal) => Promise<H>,
): Promise<H> {
  const undo = (done: Promise<H>) =>
    done.then(
      held => held?.release(),
      () => node.remove(),
    )
  return cancellable(client, lock, options, work, undo)
}

/** Takes a place in the queue, and resolves when it is its turn. */
export async function waitForTurn(
  queue: LockQueue,
  strategy: WaitStrategy,
  ownNode: OwnNode,
  signal: AbortSignal,
): Promise<void> {
  const { client } = queue
  const look = () => strategy.snapshot(queue, signal)
  let here = whereIn(queue, ownNode, await ownNode.create(look, signal))
  for (;;) {
    const { is } = here
    if (is === 'gone') {
      // Somebody deleted our node, so we queue again, at the end; or the list is older than the node, which must not stay then.
      await ownNode.remove()
      here = whereIn(queue, ownNode, await ownNode.create(look, signal))
      continue
    }
    if (is === 'waiting') await client.retry(() => strategy.wake(queue, here, here.behind, signal), { signal })
    else if (client.leaseSignal.aborted) await client.whenConnected({ signal })
    else return
    here = whereIn(queue, ownNode, await client.retry(look, { signal }))
  }
}

interface Where extends Pick<Snapshot, 'changed'> {
  is: Turn['is']
  behind: string
}

/** What one has to know while one waits. That may be long, and the list of all the others is not to stay in memory until then. */
function whereIn(queue: LockQueue, ownNode: OwnNode, { changed, ...seen }: Snapshot): Where {
  const where = turnIn(queue, ownNode, seen)
  // A copy: a part of a string keeps the whole.
  const behind = where.is === 'waiting' ? Buffer.from(where.behind).toString() : ''
  return { is: where.is, behind, ...(changed && { changed }) }
}

/** Takes the place at the head if nobody is in the way. Nothing is written where somebody is, unless he comes at the same moment. */
export async function tryTurn(
  queue: LockQueue,
  waiting: WaitStrategy,
  ownNode: OwnNode,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, names, blocks } = queue
  const isFree = (children: readonly string[]) => {
    const last = { name: '', sequence: Infinity }
    return !children.some(name => {
      const sequence = names.sequenceOf(name)
      return sequence !== undefined && blocks({ name, sequence }, last)
    })
  }
  if (!isFree(await client.retry(() => childNames(queue, { signal }), { signal }))) return false
  const look = () => waiting.snapshot(queue, signal)
  let seen = await ownNode.create(look, signal)
  if (!seen.children.includes(ownNode.node.name)) seen = await client.retry(look, { signal })
  const where = turnIn(queue, ownNode, seen)
  if (where.is === 'turn' && !client.leaseSignal.aborted) return true
  inBackground(client, ownNode.remove())
  return false
}

/** Where one's node stands; what bears its name in a younger directory is another. */
const turnIn = ({ names, blocks }: LockQueue, { node }: OwnNode, { children, madeBy }: Children): Turn =>
  node.czxid < madeBy ? { is: 'gone' } : turnOf(children, node.name, names, blocks)
