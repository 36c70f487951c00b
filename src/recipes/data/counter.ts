// A counter that several clients change, stored in the bytes of Curator's or kazoo's counters.
import { anACL } from '../../client/recipe-support.ts'
import { badArguments, type ACL } from '../../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import type { WaitOptions } from '../node/cancellable.ts'
import { RecipeError } from '../node/recipe-error.ts'
import { ChangeListeners } from './change-listeners.ts'
import { formats, rangeProblem, type CounterFormat } from './counter-format.ts'
import { SharedValue } from './shared-value.ts'
import type { ChangesOptions, VersionedData } from './shared-value-options.ts'

/**
 * An integer: a bigint, or a number that is a safe integer.
 * @example
 * const values: Integer[] = [1, 2n]
 * const counter = new Counter(zk, '/counters/orders')
 * for (const value of values) await counter.add(value)
 * await counter.get() // => 3n
 */
export type Integer = bigint | number

/**
 * Options of a {@link Counter}.
 * @example
 * const options: CounterOptions = { format: 'int32', initial: 100 }
 * await new Counter(zk, '/counters/orders', options).increment() // => 101n
 */
export interface CounterOptions {
  /** The bytes of the node. All users of a counter must choose the same. Default: 'int64'. */
  format?: CounterFormat | undefined
  /** The value while the node does not exist or is empty. Default: 0. */
  initial?: Integer | undefined
  /** The ACL of the node if it is created. Default: the world may do anything. */
  acl?: readonly ACL[] | undefined
}

const isInteger = (value: unknown): value is Integer => typeof value === 'bigint' || Number.isSafeInteger(value)
const anInteger = 'a bigint or a safe integer'

const counterChecks: Checks<CounterOptions> = {
  format: mustBe(`one of ${Object.keys(formats).join(', ')}`, value => Object.hasOwn(formats, value)),
  initial: mustBe(anInteger, isInteger),
  acl: anACL,
}

/**
 * A counter in the data of one node. Each change is executed exactly once, also if the connection is lost: see
 * {@link SharedValue}, also for the permissions that a writer needs. Values are bigints. A change that would leave the
 * range of the format rejects with a RangeError, and writes nothing.
 * @example
 * const orders = new Counter(zk, '/counters/orders')
 * await Promise.all([orders.increment(), orders.add(2)])
 * await orders.get() // => 3n
 */
export class Counter {
  /** The node that holds the number. */
  readonly path: string
  /** How the node holds the number. */
  readonly format: CounterFormat
  readonly #initial: bigint
  readonly #value: SharedValue
  readonly #listeners: ChangeListeners<bigint>

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: CounterOptions = {}) {
    checkArguments('Counter', client, path, optionsProblem(options, counterChecks))
    const { format = 'int64', initial = 0, acl } = options
    this.path = path
    this.format = format
    this.#initial = BigInt(initial)
    const problem = rangeProblem(format, this.#initial)
    if (problem !== undefined) throw badArguments('Counter', path, `initial: ${problem}`)
    this.#value = new SharedValue(client, path, { acl })
    this.#listeners = new ChangeListeners(client, path, each => this.changes(each))
  }

  /**
   * Reads the value from the connected server, which may lag behind, as {@link SharedValue.get} does.
   * @throws RecipeError UNSUPPORTED if the node's data has another format; ZooKeeperError, for example NOAUTH
   * @example await new Counter(zk, '/orders', { initial: 7 }).get() // => 7n
   */
  async get(): Promise<bigint> {
    return this.#decode(await this.#value.get())
  }

  /**
   * Adds a number, and resolves with the new value.
   * @param delta an integer, which may be negative
   * @throws RangeError if the result would be outside the range of the format; RecipeError UNSUPPORTED if the node's
   * data has another format; RecipeError TIMEOUT; the signal's reason; ZooKeeperError as {@link SharedValue.update}
   * @example
   * const orders = new Counter(zk, '/orders')
   * await orders.add(2) // => 2n
   * await orders.add(-3n) // => -1n
   */
  async add(delta: Integer, options: WaitOptions = {}): Promise<bigint> {
    const change = this.#checked('add', delta)
    return this.#decode(await this.#update(current => current + change, options))
  }

  /**
   * Adds 1. Resolves and throws as {@link add}.
   * @example
   * const [mine, theirs] = [new Counter(zk, '/orders'), new Counter(other, '/orders')]
   * await Promise.all([mine.increment(), theirs.increment()])
   * await mine.get() // => 2n
   */
  increment(options: WaitOptions = {}): Promise<bigint> {
    return this.add(1, options)
  }

  /**
   * Subtracts 1. Resolves and throws as {@link add}.
   * @example await new Counter(zk, '/orders', { initial: 7 }).decrement() // => 6n
   */
  decrement(options: WaitOptions = {}): Promise<bigint> {
    return this.add(-1, options)
  }

  /**
   * Replaces the value, also if the node's data has another format. Throws as {@link add}.
   * @example
   * const orders = new Counter(zk, '/orders')
   * await orders.set(7)
   * await orders.get() // => 7n
   */
  async set(value: Integer, options: WaitOptions = {}): Promise<void> {
    const bytes = this.#encode(this.#checked('set', value))
    await this.#value.set(bytes, options)
  }

  /**
   * Replaces the value if it is the expected one, and resolves with true. Otherwise resolves with false and writes
   * nothing. Throws as {@link add}.
   * @example
   * const orders = new Counter(zk, '/orders')
   * await orders.compareAndSet(0, 5) // => true
   * await orders.compareAndSet(0, 6) // => false
   */
  async compareAndSet(expected: Integer, next: Integer, options: WaitOptions = {}): Promise<boolean> {
    const [present, value] = [this.#checked('compareAndSet', expected), this.#checked('compareAndSet', next)]
    let isEqual = false
    await this.#update(current => {
      isEqual = current === present
      return isEqual ? value : undefined
    }, options)
    return isEqual
  }

  /**
   * Yields the present value, and then each new one, as {@link SharedValue.changes} does.
   * @throws RecipeError UNSUPPORTED if the node's data has another format; ZooKeeperError as
   * {@link SharedValue.changes}
   * @example
   * for await (const value of new Counter(zk, '/orders').changes()) {
   *   value // => 0n
   *   break
   * }
   */
  async *changes(options: ChangesOptions = {}): AsyncGenerator<bigint, void, undefined> {
    for await (const value of this.#value.changes(options)) yield this.#decode(value)
  }

  /**
   * Calls the listener with the present value, and then with each new one. Treats errors as {@link SharedValue.on}
   * does. RecipeError UNSUPPORTED, which means that the node's data has another format, is an error of a read.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * const next = new Promise(resolve => new Counter(zk, '/orders', { initial: 7 }).on('change', resolve))
   * await next // => 7n
   */
  on(event: 'change', listener: (value: bigint) => unknown): this {
    this.#listeners.on(event, listener)
    return this
  }

  /**
   * Removes a listener that {@link on} registered, and its watch.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * const values: bigint[] = []
   * const listener = (value: bigint) => values.push(value)
   * new Counter(zk, '/orders').on('change', listener).off('change', listener)
   * await zk.sync('/')
   * values // => []
   */
  off(event: 'change', listener: (value: bigint) => unknown): this {
    this.#listeners.off(event, listener)
    return this
  }

  #update(fn: (current: bigint) => bigint | undefined, options: WaitOptions): Promise<VersionedData> {
    return this.#value.update(data => {
      const next = fn(this.#decode({ data }))
      return next === undefined ? undefined : this.#encode(next)
    }, options)
  }

  #checked(op: string, value: Integer): bigint {
    if (!isInteger(value)) throw badArguments(op, this.path, `the number must be ${anInteger}`)
    return BigInt(value)
  }

  #decode({ data }: Pick<VersionedData, 'data'>): bigint {
    // kazoo creates the node before it writes the first value.
    if (data === null || data.length === 0) return this.#initial
    const value = formats[this.format]().decode(data)
    if (value !== undefined) return value
    const detail = `the node has ${data.length} bytes, which are no ${this.format}: choose the format of its other users`
    throw new RecipeError('UNSUPPORTED', this.path, { detail })
  }

  #encode(value: bigint): Buffer {
    const problem = rangeProblem(this.format, value)
    if (problem !== undefined) throw new RangeError(`the counter ${this.path} was not changed: ${problem}`)
    return formats[this.format]().encode(value)
  }
}
