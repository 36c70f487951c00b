// What the locks publish on channels of node:diagnostics_channel: each attempt to acquire, and each end of a hold.
import { channel } from 'node:diagnostics_channel'
import { clockOf } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import { cancellable, releasing, type RecipeCall } from '../call/cancellable.ts'
import type { OwnNode } from '../node/own-node.ts'
import type { Held } from './held.ts'

const channels = { acquire: channel('zkwire:acquire'), release: channel('zkwire:release') }

/**
 * Published on `zkwire:acquire` when an attempt to acquire a lock has ended, in the async context of its caller. A
 * leadership is a lock too. A MultiLock publishes one message for each of its locks, a Semaphore also those of its gate,
 * the Mutex at `<path>/locks`, and a ReentrantMutex only those of its node at the server.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * const attempts: AcquireMessage[] = []
 * subscribe('zkwire:acquire', message => attempts.push(message as AcquireMessage))
 * await using held = await new Mutex(zk, '/locks/orders').acquire()
 * attempts.map(({ lock, op }) => `${op} ${lock}`) // => ['acquire /locks/orders']
 * attempts[0]?.held === held // => true
 */
export interface AcquireMessage {
  /** The session that the lock belongs to. */
  sessionId: bigint
  /** The path of the lock, as the caller gave it. */
  lock: string
  /** The method that acquired it: `acquire`, `tryAcquire`, `campaign` or `downgrade`. */
  op: string
  /** The lock that is now held. Null if the attempt failed, or if `tryAcquire` found the lock taken. */
  held: Held | null
  /** Why the attempt failed: a RecipeError, a ZooKeeperError, or the reason of the caller's signal. Else undefined. */
  error: unknown
  /** Milliseconds from the call until it was settled. */
  ms: number
  /**
   * Milliseconds of the hand-over: from the event that last woke the waiter until it held the lock. Undefined if it did
   * not wait, or does not hold the lock.
   */
  handOverMs: number | undefined
}

/**
 * Published on `zkwire:release` when a lock is not held any more: when it is released, or when it is lost.
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * const ends: unknown[] = []
 * subscribe('zkwire:release', message => ends.push((message as ReleaseMessage).error))
 * await new Mutex(zk, '/locks/orders').use(() => undefined)
 * ends // => [undefined]
 */
export interface ReleaseMessage {
  /** The session that the lock belongs to. */
  sessionId: bigint
  /** The path of the lock, as the caller gave it. */
  lock: string
  /** The lock that was held: the same object as in the {@link AcquireMessage}. */
  held: Held
  /** Undefined if the lock was released. If it was lost, the RecipeError LOST, as `held.signal.reason` gives it. */
  error: unknown
  /** Milliseconds for which the lock was held. */
  ms: number
}

/**
 * Runs an attempt to hold something by means of a node, as {@link cancellable} does, and publishes its end.
 * @param waiter knows when an event last woke it
 */
export function acquiring<H extends Held | null>(
  client: Client,
  call: RecipeCall,
  waiter: { readonly ownNode: OwnNode; readonly wokenAt?: number | undefined },
  work: (signal: AbortSignal) => Promise<H>,
): Promise<H> {
  const attempt = cancellable(client, call, work, releasing(waiter.ownNode))
  return channels.acquire.hasSubscribers ? published(client, call, waiter, attempt) : attempt
}

async function published<H extends Held | null>(
  client: Client,
  { op, path: lock }: RecipeCall,
  waiter: { readonly wokenAt?: number | undefined },
  attempt: Promise<H>,
): Promise<H> {
  const clock = clockOf(client)
  const start = clock.now()
  const publish = (held: H | null, error: unknown) => {
    const now = clock.now()
    const handOverMs = held === null || waiter.wokenAt === undefined ? undefined : now - waiter.wokenAt
    const { sessionId } = client
    channels.acquire.publish({ sessionId, lock, op, held, error, ms: now - start, handOverMs } satisfies AcquireMessage)
  }
  try {
    const held = await attempt
    publish(held, undefined)
    return held
  } catch (error) {
    publish(null, error)
    throw error
  }
}

/**
 * Publishes that a lock is not held any more, if that interests a subscriber.
 * @param acquiredAt when it was acquired, by the client's clock
 * @param lost an Abort that is done if the lock was lost. Its class is not named, because this file is among the public
 * declarations, and some users have no type AbortController.
 */
export function publishEnd(
  client: Client,
  lock: string,
  held: Held,
  acquiredAt: number,
  lost: { readonly isDone: boolean; readonly signal: AbortSignal },
): void {
  if (!channels.release.hasSubscribers) return
  const { sessionId } = client
  const error: unknown = lost.isDone ? lost.signal.reason : undefined
  const ms = clockOf(client).now() - acquiredAt
  channels.release.publish({ sessionId, lock, held, error, ms } satisfies ReleaseMessage)
}
