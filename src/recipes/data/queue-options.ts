// The options of a Queue, and their checks.
import { aFunction, aSignal, anACL } from '../../client/recipe-support.ts'
import type { ACL } from '../../protocol/index.ts'
import { aPositiveInteger, mustBe, type Checks } from '../../options/checks.ts'
import { waitOptionChecks, type WaitOptions } from '../call/cancellable.ts'
import { aCodecOrSchema, type DataCodec, type StandardSchema, type Written } from '../call/codec.ts'

/**
 * Options of a Queue.
 * @example
 * const options: QueueOptions = { acl: openACL }
 * await using queue = new Queue(zk, '/queues/mails', options)
 * await queue.tryTake() // => null
 */
export interface QueueOptions<T = Buffer | null, In = Written<T>> {
  /**
   * Converts the items to data and back: a {@link DataCodec}, or a validator, which writes JSON. Then `put()` and `item.data`
   * have values of its type instead of bytes. Default: the items are the data.
   */
  codec?: DataCodec<T> | StandardSchema<In, T> | undefined
  /**
   * Receives the path of an item whose data the codec refuses, with a RecipeError UNSUPPORTED. The item stays in the
   * queue at its place for other consumers. This object passes it over as long as its watches stay. Default: a process
   * warning.
   */
  onInvalidItem?: ((path: string, error: Error) => void) | undefined
  /** The ACL of all nodes that the queue creates, except missing nodes above it. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
}

/**
 * Options of `put()` and `putMany()`.
 * @example
 * await using queue = new Queue(zk, '/queues/mails')
 * const urgent: PutOptions = { priority: 0, timeout: 10_000 }
 * await queue.put('later')
 * await queue.put('now', urgent)
 * await using item = await queue.take()
 * item.data?.toString() // => 'now'
 */
export interface PutOptions extends WaitOptions {
  /** An integer from 0 to 999. Items with lower numbers are taken first. Default: 100, as in kazoo. */
  priority?: number | undefined
}

/**
 * Options of `consume()`.
 * @example
 * await using queue = new Queue(zk, '/queues/mails')
 * await queue.putMany(['first', 'second'])
 * const stop = new AbortController()
 * const options: ConsumeOptions = { concurrency: 2, signal: stop.signal }
 * const consumed: unknown[] = []
 * await queue.consume(({ data }) => {
 *   if (consumed.push(String(data)) === 2) stop.abort()
 * }, options)
 * consumed // => ['first', 'second']
 */
export interface ConsumeOptions {
  /** When it aborts, consume() starts no more functions, and resolves when those that run have ended. Default: none. */
  signal?: AbortSignal | undefined
  /** How many items are processed at the same time, 1 or more. Default: 1. */
  concurrency?: number | undefined
}

export const queueChecks: Checks<QueueOptions> = { codec: aCodecOrSchema, onInvalidItem: aFunction, acl: anACL }
export const putChecks: Checks<PutOptions> = {
  ...waitOptionChecks,
  priority: mustBe(
    'an integer from 0 to 999',
    (value: number) => Number.isInteger(value) && value >= 0 && value <= 999,
  ),
}
export const consumeChecks: Checks<ConsumeOptions> = {
  signal: aSignal,
  concurrency: aPositiveInteger,
}
