// Several locks as one: all of them or none.
import { inBackground, isClient, newPace, serverPath } from '../../client/recipe-support.ts'
import { badArguments } from '../../protocol/index.ts'
import { forwardAbort } from '../../runtime/abort.ts'
import type { Transaction } from '../../client/index.ts'
import { cancellable, releasing } from '../call/cancellable.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { Held, watchingOwnNode } from './held.ts'
import { acquireOptionChecks, checkUse, type AcquireOptions, type Lock } from './lock.ts'
import { useHeld } from './use-held.ts'

/** The property key of the locks of a MultiLock. All copies of this package in one process share it. */
const members: unique symbol = Symbol.for('zkwire.MultiLock.members')

/**
 * Holds several locks at once. They are acquired one by one, in the order of their paths at the server. So two
 * MultiLocks with common locks never block each other for ever. A nested MultiLock is replaced by its locks. If a lock
 * is lost before all are acquired, all are released and acquired again. One timeout covers all of them. They are
 * released in reverse order.
 * @example
 * const lock = new MultiLock([new Mutex(zk, '/locks/a'), new Mutex(zk, '/locks/b')])
 * await lock.use(({ held }) => held.length) // => 2
 */
export class MultiLock {
  /**
   * The paths of the locks, in the order in which they are acquired.
   * @example
   * const lock = new MultiLock([new Mutex(zk, '/locks/b'), new Mutex(zk, '/locks/a')])
   * lock.paths // => ['/locks/a', '/locks/b']
   */
  readonly paths: readonly string[]
  /** @internal */
  readonly [members]: readonly [Lock, ...Lock[]]

  /**
   * @param locks one lock or more, in any order; their clients may be different
   * @throws ZooKeeperError BADARGUMENTS, also if the list is empty, or if two locks have the same path and would wait
   * for each other
   */
  constructor(locks: readonly (Lock | MultiLock)[]) {
    checkList(locks)
    this[members] = inPathOrder(locks.flatMap(membersOf))
    this.paths = this[members].map(({ path }) => path)
  }

  /**
   * Waits for all locks. If the call fails, those that it holds already are released in the background.
   * @throws RecipeError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError, for example BADARGUMENTS,
   * SESSIONEXPIRED, NOAUTH
   * @example
   * const lock = new MultiLock([new Mutex(zk, '/locks/a'), new Mutex(zk, '/locks/b')])
   * await using held = await lock.acquire({ timeout: 10_000 })
   * held.validFor() > 0 // => true
   */
  acquire(options: AcquireOptions = {}): Promise<MultiHeld> {
    return this.#acquireAll('acquire', options, (lock, each) => lock.acquire(each)) as Promise<MultiHeld>
  }

  /**
   * Acquires the locks if all are free, without waiting. Otherwise resolves with null, and holds none. Throws as {@link
   * acquire}.
   * @example
   * const lock = new MultiLock([new Mutex(zk, '/locks/a'), new Mutex(zk, '/locks/b')])
   * await using one = await new Mutex(other, '/locks/b').acquire()
   * await lock.tryAcquire() // => null
   */
  tryAcquire(options: AcquireOptions = {}): Promise<MultiHeld | null> {
    return this.#acquireAll('tryAcquire', options, (lock, each) => lock.tryAcquire(each))
  }

  /**
   * Runs a function while all locks are held, as {@link Lock.use} does.
   * @throws RecipeError LOST if a lock was lost before the function ended; otherwise as {@link Lock.use}
   * @example
   * const lock = new MultiLock([new Mutex(zk, '/locks/a'), new Mutex(zk, '/locks/b')])
   * await lock.use(({ held }) => held.length) // => 2
   */
  async use<T>(fn: (held: MultiHeld) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    checkUse(this.#names, fn, options, acquireOptionChecks)
    const held = await this.acquire(watchingOwnNode(options))
    const [{ client }] = this[members]
    return useHeld(client, this.#names, held, () => fn(held))
  }

  /** The paths, for errors. */
  get #names(): string {
    return this.paths.join(', ')
  }

  #acquireAll(
    op: string,
    options: AcquireOptions,
    acquire: (lock: Lock, options: AcquireOptions) => Promise<Held | null>,
  ): Promise<MultiHeld | null> {
    const [{ client }] = this[members]
    const acquired: Held[] = []
    const work = async (signal: AbortSignal) => {
      const { watchOwnNode = false, onQueued } = options
      const pace = newPace(client)
      for (;;) {
        const isComplete = await this.#tryAll(acquired, { watchOwnNode, onQueued, signal }, acquire)
        if (isComplete) return new MultiHeld(this.#names, acquired, rootsOf(this[members]))
        const isLost = isAnyLost(acquired)
        const released = releaseAll(acquired.splice(0))
        if (!isLost) {
          this.#inBackground(released)
          return null
        }
        // Acquires all again, as a waiter whose node was deleted queues again.
        await released
        await pace.wait(signal)
      }
    }
    const releaseAttempt = releasing({ remove: () => releaseAll(acquired) })
    const undo = (attempt: Promise<MultiHeld | null>) => {
      const undone = releaseAttempt(attempt)
      this.#inBackground(undone)
      return undone
    }
    const waitsFor = (isAnswered: boolean) => (isAnswered ? 'another contender holds one of the locks' : undefined)
    const call = { op, path: this.#names, options, checks: acquireOptionChecks, waitsFor }
    return cancellable(client, call, work, undo)
  }

  /** Registers the release of the locks that an attempt has acquired, for the next attempt at one of them. */
  #inBackground(released: Promise<void>): void {
    for (const { client, path } of this[members]) inBackground(client, released, path)
  }

  /**
   * Acquires the locks one by one. Returns false if one is not free, or if one is lost while the call waits for the
   * next.
   */
  async #tryAll(
    acquired: Held[],
    { signal, ...options }: AcquireOptions & { signal: AbortSignal },
    acquire: (lock: Lock, options: AcquireOptions) => Promise<Held | null>,
  ): Promise<boolean> {
    try {
      for (const lock of this[members]) {
        // Not AbortSignal.any(): in Node 20 each of these signals would keep an entry.
        const lostOrCancelled = new AbortController()
        const stopForwarding = [signal, ...acquired.map(each => each.signal)].map(each =>
          forwardAbort(each, lostOrCancelled),
        )
        const held = await acquire(lock, { ...options, signal: lostOrCancelled.signal }).finally(() =>
          stopForwarding.forEach(stop => stop()),
        )
        if (held === null) return false
        acquired.push(held)
      }
    } catch (error) {
      if (signal.aborted || !isAnyLost(acquired)) throw error
    }
    return !isAnyLost(acquired)
  }
}

/**
 * Several locks that are held. `path` and `token` are those of the lock that was acquired last. For those of each lock,
 * see `held`.
 * @example
 * const lock = new MultiLock([new Mutex(zk, '/locks/a'), new Mutex(zk, '/locks/b')])
 * await using held: MultiHeld = await lock.acquire()
 * held.held.map(each => each.path.slice(0, 8)) // => ['/locks/a', '/locks/b']
 */
export class MultiHeld extends Held {
  /** The locks, in the order in which they were acquired. */
  readonly held: readonly Held[]
  override readonly path: string
  override readonly token: bigint
  readonly #lock: string
  readonly #roots: ReadonlySet<string>
  readonly #lost = new AbortController()
  readonly #revoked = new AbortController()
  readonly #stopListening: (() => void)[]

  constructor(lock: string, held: readonly Held[], roots: ReadonlySet<string>) {
    super()
    const last = held.at(-1)
    if (last === undefined) throw new Error('no lock is held')
    this.held = held
    this.path = last.path
    this.token = last.token
    this.#lock = lock
    this.#roots = roots
    this.#stopListening = held.flatMap(({ signal, revoked }) => [
      forwardAbort(signal, this.#lost),
      forwardAbort(revoked, this.#revoked),
    ])
  }

  /** Aborts when one of the locks is lost. The others stay held until `release()`. */
  override get signal(): AbortSignal {
    // A lock notices the end of its lease when its signal is read.
    isAnyLost(this.held)
    return this.#lost.signal
  }

  /** Aborts when a client asks for one of the locks. */
  override get revoked(): AbortSignal {
    return this.#revoked.signal
  }

  /** Returns the smallest `validFor()` of the locks, in milliseconds. */
  override validFor(): number {
    return Math.min(...this.held.map(each => each.validFor()))
  }

  /**
   * Returns a transaction that fails if the node of one of the locks does not exist any more.
   * @throws RecipeError UNSUPPORTED if one of the locks has no `guard()`, or if the locks' clients have different roots
   */
  override guard(): Transaction {
    const [first, ...others] = this.held
    if (first === undefined || this.#roots.size > 1) {
      const detail =
        "guard() is not available, because the locks' clients have different roots: create all locks with one client"
      throw new RecipeError('UNSUPPORTED', this.#lock, { detail })
    }
    return others.reduce((transaction, each) => {
      // Throws if this lock has no guard().
      each.guard()
      return transaction.check(each.path)
    }, first.guard())
  }

  /**
   * Releases all locks, in reverse order. If the release of one fails, still releases the others.
   * @throws the error of the first release that fails
   */
  override async release(): Promise<void> {
    await releaseAll(this.held)
    for (const stop of this.#stopListening) stop()
  }
}

const isAnyLost = (held: readonly Held[]): boolean => held.some(({ signal }) => signal.aborted)

/** Releases in reverse order, in one packet. If one release fails, the others are released nevertheless. */
async function releaseAll(held: readonly Held[]): Promise<void> {
  const results = await Promise.allSettled(held.toReversed().map(each => each.release()))
  const failure = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  if (failure !== undefined) throw failure.reason
}

const serverPathOf = ({ client, path }: Lock) => serverPath(client, path)
const rootsOf = (locks: readonly Lock[]) => new Set(locks.map(({ client }) => serverPath(client, '/')))

function inPathOrder(locks: readonly Lock[]): readonly [Lock, ...Lock[]] {
  const [first, ...others] = locks.toSorted((a, b) => (serverPathOf(a) < serverPathOf(b) ? -1 : 1))
  if (first === undefined) throw refuse('the list of locks is empty')
  if (new Set(locks.map(serverPathOf)).size < locks.length)
    throw refuse('two of the locks have the same path, and would wait for each other')
  return [first, ...others]
}

function checkList(locks: unknown): void {
  if (!Array.isArray(locks)) throw refuse('the first argument must be an array of locks')
  // Not by every(), because it skips the holes of a sparse array.
  const index = locks.findIndex(lock => !isLock(lock))
  if (index !== -1)
    throw refuse(`element ${index} is not a lock: it must have a client, a path, acquire() and tryAcquire()`)
}

/** Returns the locks of a MultiLock, also of one of another copy of this package; for any other lock, itself. */
const membersOf = (lock: Lock | MultiLock): readonly Lock[] => (members in lock ? lock[members] : [lock])

/** Returns true for a lock. Does not use instanceof, so that locks of another copy of this package are accepted. */
function isLock(value: unknown): boolean {
  if (typeof value === 'object' && value !== null && members in value) return true
  const { client, path, acquire, tryAcquire } = (value ?? {}) as Partial<Lock>
  return isClient(client) && typeof path === 'string' && [acquire, tryAcquire].every(each => typeof each === 'function')
}

const refuse = (detail: string) => badArguments('MultiLock', '', detail)
