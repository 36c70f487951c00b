// To the head of the queue: look, see where one stands, wait for a change, look again.
import { attempt, type AttemptOptions } from './attempt.ts'
import type { Client } from '../session/index.ts'
import type { HoldOptions } from './held.ts'
import type { Place } from './place.ts'
import { namesIn, type Listing, type Queue } from './queue.ts'
import { standing, type Standing } from './standing.ts'

export interface AcquireOptions extends AttemptOptions, HoldOptions {}

export interface Look extends Listing {
  /** Where the look itself left a watch: its event. */
  changed?: Promise<void>
}

/** How one waits: what is watched, and so who is woken by whom. */
export interface Waiting {
  /** Lists the contenders. */
  look(queue: Queue, signal: AbortSignal): Promise<Look>
  /** Resolves when it is worth looking again. A wake-up is a hint; the list of children is the truth. */
  wake(queue: Queue, look: Pick<Look, 'changed'>, behind: string, signal: AbortSignal): Promise<void>
}

/**
 * One try to hold something by a node of one's own, which goes when the try fails or is given up.
 * @param lock its path, for errors
 * @param work comes to what is held, or null; it hears by its signal that it was given up or has ended
 * @throws LockError TIMEOUT; the signal's reason; what the work throws. Nothing is left behind: what was begun is taken back in the
 * background, which `client.settled()` waits for.
 */
export function contend<H extends { release(): Promise<void> } | null>(
  client: Client,
  lock: string,
  place: { leave(): Promise<void> },
  options: AcquireOptions,
  work: (signal: AbortSignal) => Promise<H>,
): Promise<H> {
  const undo = (done: Promise<H>) =>
    done.then(
      held => held?.release(),
      () => place.leave(),
    )
  return attempt(client, lock, options, work, undo)
}

/** Takes a place in the queue, and resolves when it is its turn. */
export async function reachHead(queue: Queue, waiting: Waiting, place: Place, signal: AbortSignal): Promise<void> {
  const { client } = queue
  const look = () => waiting.look(queue, signal)
  let here = whereIn(queue, place, await place.take(look, signal))
  for (;;) {
    const { is } = here
    if (is === 'gone') {
      // Somebody deleted our node, so we queue again, at the end; or the list is older than the node, which must not stay then.
      await place.leave()
      here = whereIn(queue, place, await place.take(look, signal))
      continue
    }
    if (is === 'waiting') await client.retry(() => waiting.wake(queue, here, here.behind, signal), { signal })
    else if (client.lease.aborted) await client.connected({ signal })
    else return
    here = whereIn(queue, place, await client.retry(look, { signal }))
  }
}

interface Where extends Pick<Look, 'changed'> {
  is: Standing['is']
  behind: string
}

/** What one has to know while one waits. That may be long, and the list of all the others is not to stay in memory until then. */
function whereIn(queue: Queue, place: Place, { changed, ...seen }: Look): Where {
  const where = placeIn(queue, place, seen)
  // A copy: a part of a string keeps the whole.
  const behind = where.is === 'waiting' ? Buffer.from(where.behind).toString() : ''
  return { is: where.is, behind, ...(changed && { changed }) }
}

/** Takes the place at the head if nobody is in the way. Nothing is written where somebody is, unless he comes at the same moment. */
export async function tryHead(queue: Queue, waiting: Waiting, place: Place, signal: AbortSignal): Promise<boolean> {
  const { client, names, blocks } = queue
  const isFree = (children: readonly string[]) => {
    const last = { name: '', sequence: Infinity }
    return !children.some(name => {
      const sequence = names.sequenceOf(name)
      return sequence !== undefined && blocks({ name, sequence }, last)
    })
  }
  if (!isFree(await client.retry(() => namesIn(queue, { signal }), { signal }))) return false
  const look = () => waiting.look(queue, signal)
  let seen = await place.take(look, signal)
  if (!seen.children.includes(place.node.name)) seen = await client.retry(look, { signal })
  const where = placeIn(queue, place, seen)
  if (where.is === 'turn' && !client.lease.aborted) return true
  client.inBackground(place.leave())
  return false
}

/** Where one's node stands; what bears its name in a younger directory is another. */
const placeIn = ({ names, blocks }: Queue, { node }: Place, { children, madeBy }: Listing): Standing =>
  node.czxid < madeBy ? { is: 'gone' } : standing(children, node.name, names, blocks)
