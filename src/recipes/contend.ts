// To the head of the queue: look, see where one stands, wait for a change, look again.
import { attempt, type AttemptOptions } from './attempt.ts'
import { sequenceOf } from './dialect.ts'
import { Held } from './held.ts'
import { LockError } from './lock-error.ts'
import { namesIn, Place, type Queue } from './place.ts'
import { standing } from './standing.ts'

export interface AcquireOptions extends AttemptOptions {
  /** Watch the lock's own node while it is held, so that `signal` also aborts when somebody deletes that. Default false. */
  watchOwnNode?: boolean
}

export interface Look {
  children: readonly string[]
  /** Where the look itself left a watch: its event. */
  changed?: Promise<void>
}

/** How one waits: what is watched, and so who is woken by whom. */
export interface Waiting {
  /** Lists the contenders. */
  look(queue: Queue, signal: AbortSignal): Promise<Look>
  /** Resolves when it is worth looking again. A wake-up is a hint; the list of children is the truth. */
  wake(queue: Queue, look: Look, behind: string, signal: AbortSignal): Promise<void>
}

/**
 * @throws LockError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError. Nothing is left behind: what was begun is taken back
 * in the background, which `client.settled()` waits for.
 */
export function acquire(queue: Queue, waiting: Waiting, options: AcquireOptions): Promise<Held> {
  const place = new Place(queue)
  const work = async (signal: AbortSignal) => {
    await reachHead(queue, place, waiting, signal)
    return new Held(queue.client, queue.directory, place, options)
  }
  return undone(queue, place, options, work)
}

/** The lock, or null where it is taken: nothing is written then, unless somebody else comes at the same moment. */
export async function tryAcquire(queue: Queue, waiting: Waiting, options: AcquireOptions): Promise<Held | null> {
  const { client } = queue
  const place = new Place(queue)
  const isFree = (children: readonly string[]) => !children.some(name => sequenceOf(name, queue.dialect) !== undefined)
  const work = async (signal: AbortSignal) => {
    if (!isFree(await client.retry(() => namesIn(queue, { signal }), { signal }))) return null
    const look = () => waiting.look(queue, signal)
    let { children } = await place.take(look, signal)
    if (!children.includes(place.node.name)) ({ children } = await client.retry(look, { signal }))
    const where = standing(children, place.node.name, queue.dialect)
    if (where.is === 'turn' && !client.lease.aborted) return new Held(client, queue.directory, place, options)
    client.inBackground(place.leave())
    return null
  }
  return undone(queue, place, options, work)
}

async function undone<T extends Held | null>(
  queue: Queue,
  place: Place,
  options: AcquireOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const undo = (done: Promise<T>) =>
    done.then(
      held => held?.release(),
      () => place.leave(),
    )
  return attempt(queue.client, options, () => new LockError('TIMEOUT', queue.directory), work, undo)
}

async function reachHead(queue: Queue, place: Place, waiting: Waiting, signal: AbortSignal): Promise<void> {
  const { client } = queue
  const look = () => waiting.look(queue, signal)
  let seen = await place.take(look, signal)
  for (;;) {
    const where = standing(seen.children, place.node.name, queue.dialect)
    if (where.is === 'gone') {
      // Somebody deleted our node, so we queue again, at the end; or the list is older than the node, which must not stay then.
      await place.leave()
      seen = await place.take(look, signal)
      continue
    }
    if (where.is === 'waiting') await client.retry(() => waiting.wake(queue, seen, where.behind, signal), { signal })
    else if (client.lease.aborted) await client.connected({ signal })
    else return
    seen = await client.retry(look, { signal })
  }
}
