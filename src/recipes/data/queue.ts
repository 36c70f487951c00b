// A queue of items for several consumers, with the nodes of kazoo's LockingQueue.
import { callLater, checked, copyOfACL, inBackground, newPace } from '../../client/recipe-support.ts'
import { badArguments, isCode, join, printable, type ACL } from '../../protocol/index.ts'
import { optionsProblem } from '../../options/checks.ts'
import { forwardAbort, isAbortOf } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments, checkFunction } from '../call/arguments.ts'
import { cancellable, retriedAfterCleanUp, waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { closedError } from '../call/closed-error.ts'
import { Conversion, type Written } from '../call/codec.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { MarkedMulti } from './marked-multi.ts'
import { itemPrefix } from './queue-index.ts'
import { ItemClaim, type QueueItem } from './queue-item.ts'
import {
  consumeChecks,
  putChecks,
  queueChecks,
  type ConsumeOptions,
  type PutOptions,
  type QueueOptions,
} from './queue-options.ts'
import { QueueWatch } from './queue-watch.ts'

/**
 * A queue: each item that was put is processed at least once. A consumer takes an item, processes it and completes it.
 * If the consumer dies, another one takes the item. Two consumers have the same item at the same time only if the
 * session of the first has ended. Items of one priority are taken in the order in which they were put, unless several
 * consumers compete.
 *
 * The nodes and bytes are those of kazoo's LockingQueue, so both can share a queue.
 * @example
 * await using queue = new Queue(zk, '/queues/mails')
 * await queue.putMany(['first', 'second'])
 * await using item = await queue.take()
 * item.data?.toString() // => 'first'
 */
export class Queue<T = Buffer | null, In = Written<T>> implements AsyncDisposable {
  /** The directory that holds the items. */
  readonly path: string
  readonly #client: Client
  readonly #acl: readonly ACL[] | undefined
  readonly #conversion: Conversion<T, In>
  readonly #onInvalidItem: (path: string, error: Error) => void
  #watch: QueueWatch | undefined
  /** The calls that need the watch. */
  #users = 0
  #isClosed = false

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: QueueOptions<T, In> = {}) {
    checkArguments('Queue', client, path, optionsProblem(options, queueChecks))
    const { codec, onInvalidItem = warn, acl } = options
    this.path = path
    this.#onInvalidItem = onInvalidItem
    this.#conversion = new Conversion('Queue', path, codec)
    this.#client = client.chroot('/')
    this.#acl = copyOfACL(acl)
  }

  /**
   * Puts an item at the end of the queue, or before all items of a higher number of priority. It is put exactly once,
   * also if the connection is lost. If the call is cancelled or the session ends, it may be put nevertheless.
   * @throws RecipeError TIMEOUT; RecipeError EXHAUSTED if the numbers of the directory are used up; the signal's
   * reason; ZooKeeperError, for example BADARGUMENTS, NOAUTH, SESSIONEXPIRED; CLOSED after {@link close}
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * await queue.put('later')
   * await queue.put('now', { priority: 0 })
   * await queue.take().then(({ data }) => data?.toString()) // => 'now'
   */
  async put(data: In, options: PutOptions = {}): Promise<void> {
    return this.#put('put', [data], options)
  }

  /**
   * Puts several items in one transaction: all of them or none. All together must fit into one request.
   * @throws as {@link put}; ZooKeeperError REQUESTTOOLARGE
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * await queue.putMany(['first', 'second'])
   * await queue.size() // => 2
   */
  async putMany(items: readonly In[], options: PutOptions = {}): Promise<void> {
    if (!Array.isArray(items)) throw badArguments('putMany', this.path, 'the first argument must be an array of data')
    if (items.length > 0) await this.#put('putMany', items, options)
  }

  /**
   * Waits for an item and takes it. The first call of take(), tryTake() or consume() sets two watches. They stay until
   * {@link close}, or until a consume() has ended while no other call waits; the next call sets them again.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED; CLOSED after
   * {@link close}
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * const taken = queue.take({ timeout: 60_000 })
   * await new Queue(other, '/queues/mails').put('first')
   * await using item = await taken
   * item.data?.toString() // => 'first'
   */
  take(options: WaitOptions = {}): Promise<QueueItem<T>> {
    return this.#take('take', options, true) as Promise<QueueItem<T>>
  }

  /**
   * Takes an item if the queue has one that is not taken. Otherwise resolves with null, after a sync and two lists,
   * because the connected server may lag behind. Throws as {@link take}.
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * await queue.tryTake() // => null
   */
  tryTake(options: WaitOptions = {}): Promise<QueueItem<T> | null> {
    return this.#take('tryTake', options, false)
  }

  /**
   * Runs a function for each item, and completes the item when the function has ended, unless the function itself has
   * completed or released it. Resolves when the signal has aborted, or {@link close} was called, and no function is
   * running.
   * @throws the function's error, after the item was released and the other functions have ended; RecipeError LOST if
   * the session ended while an item was processed; ZooKeeperError at the end of the session (`supervise` can start a
   * new session), BADARGUMENTS, NOAUTH
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * await queue.put('first')
   * const stop = new AbortController()
   * const process = ({ data }: QueueItem) => {
   *   data?.toString() // => 'first'
   *   stop.abort()
   * }
   * await queue.consume(process, { signal: stop.signal })
   */
  async consume(fn: (item: QueueItem<T>) => void | Promise<void>, options: ConsumeOptions = {}): Promise<void> {
    checkFunction('consume', this.path, fn)
    const { signal, concurrency = 1 } = checked('consume', this.path, options, consumeChecks)
    this.#refuseIfClosed('consume')
    const stop = new AbortController()
    const stopListening = forwardAbort(signal, stop)
    const hasEnded = () => stop.signal.aborted || this.#isClosed
    const work = async () => {
      while (!hasEnded()) {
        const item = await this.take({ signal: stop.signal }).catch((error: unknown) => {
          if (hasEnded()) return undefined
          throw error
        })
        if (item !== undefined) await processItem(item, fn)
      }
    }
    this.#users++
    const workers = Array.from({ length: concurrency }, () =>
      work().catch((error: unknown) => {
        stop.abort()
        throw error
      }),
    )
    const outcomes = await Promise.allSettled(workers)
    stopListening()
    if (--this.#users === 0) await this.#unwatch()
    const failed = outcomes.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  /**
   * Reads the number of items, with those that are taken. Waits through lost connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED; CLOSED after
   * {@link close}
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * await queue.putMany(['first', 'second'])
   * await queue.size() // => 2
   */
  async size(options: WaitOptions = {}): Promise<number> {
    this.#refuseIfClosed('size')
    const client = this.#client
    const read = (signal: AbortSignal) => client.exists(join(this.path, 'entries'), { signal })
    return (await waitingRead(client, { op: 'size', path: this.path, options }, read))?.numChildren ?? 0
  }

  /**
   * Removes the watches of this object, and resolves when they are gone. Calls that wait for an item reject with CLOSED,
   * and so do later calls. Functions of {@link consume} that run go on to their end, and get no other item. Items that
   * were taken stay taken. Never rejects. May be called again.
   * @example
   * const queue = new Queue(zk, '/queues/mails')
   * const taken = queue.take().catch((error: ZooKeeperError) => error)
   * await queue.close()
   * await taken.then(error => isCode(error, 'CLOSED')) // => true
   */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#unwatch()
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #unwatch(): Promise<void> {
    const watch = this.#watch
    this.#watch = undefined
    await watch?.close(closedError('take', this.path))
  }

  #refuseIfClosed(op: string): void {
    if (this.#isClosed) throw closedError(op, this.path)
  }

  async #put(op: string, items: readonly In[], options: PutOptions): Promise<void> {
    this.#refuseIfClosed(op)
    const encoded = items.map((item, i) => this.#conversion.encode(op, item, `item ${i}: `))
    const client = this.#client
    const acl = this.#acl
    const marked = new MarkedMulti(client, this.path, acl)
    const call = { op, path: this.path, options, checks: putChecks }
    const removeMarker = () => inBackground(client, marked.remove())
    return cancellable(
      client,
      call,
      async signal => {
        const create = join(join(this.path, 'entries'), itemPrefix(options.priority ?? 100))
        const mode = 'persistentSequential'
        const ops = encoded.map(data => ({ create, data, mode, acl }) as const)
        const pace = newPace(client)
        for (;;) {
          try {
            await marked.commit(ops, signal)
            removeMarker()
            return
          } catch (error) {
            // The counter stays at its maximum, and a node has that number already.
            if (isCode(error, 'NODEEXISTS')) throw new RecipeError('EXHAUSTED', this.path, { cause: error })
            if (!isCode(error, 'NONODE')) throw error
          }
          await ensureDirectory(client, this.path, { mode: 'persistent', acl, signal })
          await ensureDirectory(client, join(this.path, 'entries'), { mode: 'persistent', acl, signal })
          await pace.wait(signal)
        }
      },
      done => done.then(nothing, nothing).then(() => marked.remove()),
    )
  }

  async #take(op: string, options: WaitOptions, waits: boolean): Promise<QueueItem<T> | null> {
    this.#refuseIfClosed(op)
    const client = this.#client
    let claim: ItemClaim | undefined
    let isEmpty = false
    this.#users++
    const work = async (signal: AbortSignal) => {
      if (this.#watch?.hasEnded !== false) this.#watch = new QueueWatch(client, this.path)
      const watch = this.#watch
      await watch.loaded
      const pace = newPace(client)
      let isRefreshed = false
      for (let losses = 0; ; losses++) {
        signal.throwIfAborted()
        const name = watch.pick(losses)
        isEmpty = waits && name === undefined
        if (name === undefined) {
          if (!waits && isRefreshed) return null
          losses = -1
          await (waits ? watch.whenAvailable(signal) : watch.refresh(signal))
          isRefreshed = true
          continue
        }
        claim = new ItemClaim(client, this.path, name, this.#acl, () => this.#watch?.givenBack(name))
        try {
          const item = await claim.take(signal, (data, entry) => this.#conversion.decode(data, entry))
          if (item === 'gone') watch.gone(name)
          else watch.taken(name)
          if (typeof item !== 'string') return item
        } catch (error) {
          if (!(error instanceof RecipeError && error.code === 'UNSUPPORTED')) {
            watch.failed(name)
            throw error
          }
          losses = -1
          watch.invalid(name)
          callLater(client, () => this.#onInvalidItem(error.path, error))
          await claim.remove()
          continue
        }
        await pace.wait(signal)
      }
    }
    return cancellable(
      client,
      { op, path: this.path, options, waitsFor: () => (isEmpty ? 'the queue has no free item' : undefined) },
      waits ? work : retriedAfterCleanUp(client, this.path, work),
      done =>
        done.then(
          item => item?.release(),
          () => claim?.remove(),
        ),
    ).finally(() => this.#users--)
  }
}

async function processItem<T>(item: QueueItem<T>, fn: (item: QueueItem<T>) => void | Promise<void>): Promise<void> {
  try {
    await fn(item)
    if (!item.hasEnded) await item.complete()
  } catch (error) {
    await item.release().catch(nothing)
    throw isAbortOf(item.signal, error) ? item.signal.reason : error
  }
}

const warn = (path: string, error: Error): void =>
  process.emitWarning(printable(`${path} is left in the queue, because its data is no item: ${error.message}`), {
    code: 'ZKWIRE_INVALID_ITEM',
  })

const nothing = () => undefined
