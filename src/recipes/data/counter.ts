// A counter that several clients change, stored in the bytes of Curator's or kazoo's counters.
import { anACL } from '../../client/recipe-support.ts'
import { badArguments, type ACL } from '../../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import type { Client, SignalOption } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import type { WaitOptions } from '../call/cancellable.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { Followed } from '../changes/followed.ts'
import { WatchedState } from '../changes/watched-state.ts'
import type { Iteration } from '../changes/publisher.ts'
import { formats, rangeProblem, type CounterFormat } from './counter-format.ts'
import type { VersionedData } from './shared-value-options.ts'
import { readIdentified, SharedValue } from './shared-value.ts'

/**
 * Options of a {@link Counter}.
 * @example
 * const options: CounterOptions = { format: 'int32', initial: 100 }
 * await new Counter(zk, '/counters/orders', options).increment() // => 101n
 */
export interface CounterOptions {
  /**
   * The bytes of the node. All users of a counter must choose the same. `int64`: 8 bytes, big-endian, as Curator's
   * DistributedAtomicLong. `int32`: 4 bytes, as Curator's SharedCount and DistributedAtomicInteger, and as kazoo's Counter
   * with `support_curator`. `decimal`: decimal digits, as kazoo's Counter. Default: 'int64'.
   */
  format?: CounterFormat | undefined
  /** The value while the node does not exist or is empty: a bigint or a safe integer. Default: 0. */
  initial?: bigint | number | undefined
  /** The ACL of the node if it is created. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
}

const isInteger = (value: unknown): value is bigint | number => typeof value === 'bigint' || Number.isSafeInteger(value)
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
export class Counter extends Followed<bigint> {
  /** The node that holds the number. */
  readonly path: string
  /** How the node holds the number. */
  readonly format: CounterFormat
  readonly #initial: bigint
  readonly #value: SharedValue
  readonly #changes: WatchedState<bigint, bigint>

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: CounterOptions = {}) {
    checkArguments('Counter', client, path, optionsProblem(options, counterChecks))
    const { format = 'int64', initial = 0, acl } = options
    const view = client.chroot('/')
    const read = async (signal: AbortSignal) => {
      const { value, changed } = await readIdentified(view, path, null, signal)
      return { value: this.#decode(value.value), changed }
    }
    const changes = new WatchedState(view, path, read, (before, after: bigint) =>
      before === after ? undefined : after,
    )
    super(changes)
    this.path = path
    this.format = format
    this.#initial = BigInt(initial)
    const problem = rangeProblem(format, this.#initial)
    if (problem !== undefined) throw badArguments('Counter', path, `initial: ${problem}`)
    this.#changes = changes
    this.#value = new SharedValue(client, path, { acl })
    const numberIn = (data: VersionedData) => {
      try {
        return this.#decode(data)
      } catch {
        return undefined
      }
    }
    this.#value.readByCall = reading => this.#changes.readByCall(reading, ({ value }) => numberIn(value))
  }

  /**
   * Reads the value from the connected server, which may lag behind, as {@link SharedValue.get} does.
   * @throws RecipeError UNSUPPORTED if the node's data has another format; otherwise as {@link SharedValue.get}
   * @example await new Counter(zk, '/orders', { initial: 7 }).get() // => 7n
   */
  async get(options: WaitOptions = {}): Promise<bigint> {
    return this.#decode(await this.#value.get(options))
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
  async add(delta: bigint | number, options: WaitOptions = {}): Promise<bigint> {
    return this.#add('add', delta, options)
  }

  /**
   * Adds 1. Resolves and throws as {@link add}.
   * @example
   * const [mine, theirs] = [new Counter(zk, '/orders'), new Counter(other, '/orders')]
   * await Promise.all([mine.increment(), theirs.increment()])
   * await mine.get() // => 2n
   */
  increment(options: WaitOptions = {}): Promise<bigint> {
    return this.#add('increment', 1, options)
  }

  /**
   * Subtracts 1. Resolves and throws as {@link add}.
   * @example await new Counter(zk, '/orders', { initial: 7 }).decrement() // => 6n
   */
  decrement(options: WaitOptions = {}): Promise<bigint> {
    return this.#add('decrement', -1, options)
  }

  /**
   * Replaces the value, also if the node's data has another format. Resolves with the value. Throws as {@link add}.
   * @example
   * const orders = new Counter(zk, '/orders')
   * await orders.set(7) // => 7n
   */
  async set(value: bigint | number, options: WaitOptions = {}): Promise<bigint> {
    const bytes = this.#encode(this.#checked('set', value))
    return this.#decode(await this.#value.set(bytes, options))
  }

  /**
   * Replaces the value if it is the expected one, and resolves with the new one. Otherwise resolves with null and writes
   * nothing. Throws as {@link add}.
   * @example
   * const orders = new Counter(zk, '/orders')
   * await orders.compareAndSet(0, 5) // => 5n
   * await orders.compareAndSet(0, 6) // => null
   */
  async compareAndSet(
    expected: bigint | number,
    next: bigint | number,
    options: WaitOptions = {},
  ): Promise<bigint | null> {
    const [present, value] = [this.#checked('compareAndSet', expected), this.#checked('compareAndSet', next)]
    let isEqual = false as boolean
    const replaced = (current: bigint) => {
      isEqual = current === present
      return isEqual ? value : undefined
    }
    await this.#update('compareAndSet', replaced, options)
    return isEqual ? value : null
  }

  /**
   * Yields the present value, and then each new one, as {@link SharedValue.changes} does. A node that is created with the
   * value that the counter had already is no change.
   * @throws RecipeError UNSUPPORTED if the node's data has another format; otherwise as {@link SharedValue.changes}
   * @example
   * for await (const value of new Counter(zk, '/orders').changes()) {
   *   value // => 0n
   *   break
   * }
   */
  override changes(options: SignalOption = {}): Iteration<bigint> {
    return this.#changes.iterate(options)
  }

  /**
   * Ends this object, as {@link SharedValue.close} does.
   * @example
   * const orders = new Counter(zk, '/orders')
   * await orders.close()
   * await orders.increment() // throws CLOSED
   */
  override async close(): Promise<void> {
    this.#changes.close()
    await this.#value.close()
  }

  async #add(op: string, delta: bigint | number, options: WaitOptions): Promise<bigint> {
    const change = this.#checked(op, delta)
    return this.#decode(await this.#update(op, current => current + change, options))
  }

  #update(op: string, fn: (current: bigint) => bigint | undefined, options: WaitOptions): Promise<VersionedData> {
    const encoded = (data: Buffer | null) => {
      const next = fn(this.#decode({ data }))
      return next === undefined ? undefined : this.#encode(next)
    }
    return this.#value.updateAs(op, encoded, options)
  }

  #checked(op: string, value: bigint | number): bigint {
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
