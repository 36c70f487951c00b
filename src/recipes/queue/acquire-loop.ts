// The queue of a lock: nodes in one directory. This file: wait until a contender is first in the queue.
// May import: recipes/node, client/index.ts, client/recipe-support.ts, protocol, runtime.
import { inBackground, newPace } from '../../client/recipe-support.ts'
import { cancellable, type Call } from '../node/cancellable.ts'
import type { Client } from '../../client/index.ts'
import type { OwnNode } from '../node/own-node.ts'
import { childNames, type Children, type LockQueue } from './queue.ts'
import type { Position, Snapshot, WaitStrategy } from './wait-strategies.ts'
import { turnOf, type Turn } from './turn.ts'

/**
 * One attempt to hold something by means of a node, which is removed if the attempt fails or is cancelled.
 * @param work resolves with what is held, or null; its signal aborts on cancellation, and also when work ends
 * @throws ZooKeeperError BADARGUMENTS, before work starts; RecipeError TIMEOUT; the signal's reason; the error of work.
 * The clean-up runs in the background; `client.settled()` waits for it.
 */
export function withCleanup<H extends { release(): Promise<void> } | null>(
  client: Client,
  call: Call,
  node: { remove(): Promise<void> },
  work: (signal: AbortSignal) => Promise<H>,
): Promise<H> {
  const undo = (done: Promise<H>) =>
    done.then(
      held => held?.release(),
      () => node.remove(),
    )
  return cancellable(client, call, work, undo)
}

/** Enters the queue, and resolves when no contender ahead blocks this one. */
export async function waitForTurn(
  queue: LockQueue,
  strategy: WaitStrategy,
  ownNode: OwnNode,
  signal: AbortSignal,
): Promise<void> {
  const { client } = queue
  const wait = strategy.waiter(queue, ownNode, signal)
  const read = () => strategy.snapshot(queue, signal)
  const pace = newPace(client)
  let place = placeIn(queue, ownNode, await ownNode.create(read, signal))
  for (;;) {
    const { status } = place
    if (status === 'gone') {
      // Another client deleted our node, or the list is older than the node. In the second case the node exists, so
      // remove it. Then queue again at the end.
      await ownNode.remove()
      await pace.wait(signal)
      place = placeIn(queue, ownNode, await ownNode.create(read, signal))
      continue
    }
    if (status === 'waiting') {
      const present = place
      const woken = await client.retry(() => wait(present), { signal })
      if (woken === 'turn' && !client.leaseSignal.aborted) return
      if (woken === 'atOnce') await pace.wait(signal)
    } else if (client.leaseSignal.aborted) await client.whenConnected({ signal })
    else return
    place = placeIn(queue, ownNode, await client.retry(read, { signal }))
  }
}

/** What a waiter keeps in memory. The list of children is not kept, because the wait may be long. */
interface Place extends Position {
  status: Turn['status']
}

function placeIn(queue: LockQueue, ownNode: OwnNode, { changed, ...list }: Snapshot): Place {
  const turn = turnIn(queue, ownNode, list)
  if (turn.status !== 'waiting') return { status: turn.status, predecessor: '' }
  const { status, predecessor, second } = turn
  return {
    status,
    predecessor: copyOf(predecessor),
    second: second === undefined ? undefined : copyOf(second),
    changed,
  }
}

/** Copies a name out of a list, because in V8 a slice keeps the string of the whole reply in memory. */
const copyOf = (name: string): string => Buffer.from(name).toString()

/**
 * Enters the queue if no contender blocks this one, and returns true. Does not wait. Writes nothing if the first list
 * contains a contender that blocks. If another contender was faster, removes the node in the background and returns
 * false.
 */
export async function tryTurn(
  queue: LockQueue,
  strategy: WaitStrategy,
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
  const read = () => strategy.snapshot(queue, signal)
  let snapshot = await ownNode.create(read, signal)
  if (!snapshot.children.includes(ownNode.node.name)) snapshot = await client.retry(read, { signal })
  if (turnIn(queue, ownNode, snapshot).status === 'first' && !client.leaseSignal.aborted) return true
  inBackground(client, ownNode.remove())
  return false
}

/**
 * Returns the turn of our node. A directory that is younger than the node was created again. A child with the name of
 * our node then belongs to another contender.
 */
const turnIn = ({ names, blocks }: LockQueue, { node }: OwnNode, { children, directoryCzxid }: Children): Turn =>
  node.czxid < directoryCzxid ? { status: 'gone' } : turnOf(children, node.name, names, blocks)
