// Several locks as one: all of them or none.
import { inBackground, isListOfObjects, serverPath } from '../../client/recipe-support.ts'
import { badArguments } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Transaction } from '../../client/index.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import type { AcquireOptions } from './lock.ts'
import { Held } from './held.ts'
import { Lock } from './lock.ts'
import { LockError } from '../node/lock-error.ts'

/**
 * Holds several locks at once. They are acquired one after the other in the order of their paths at the server, whatever order they are given
 * in, so that two who want the same locks never wait for each other; a MultiLock among them stands for those it is made of. What is lost on
 * the way is asked for again, with all the rest. One deadline is over all of them, and they are released in reverse.
 */
export class MultiLock extends Lock<MultiHeld> {
  readonly #locks: readonly Lock[]

  /** @throws ZooKeeperError BADARGUMENTS where there is no lock, or two have the same path: they would wait for each other */
  constructor(locks: readonly Lock[]) {
    if (!isListOfObjects(locks)) throw refuse('it is made of a list of locks')
    const sorted = inOrder(locks.flatMap(lock => (lock instanceof MultiLock ? lock.#locks : [lock])))
    super(sorted[0].client, sorted.map(({ path }) => path).join(', '))
    this.#locks = sorted
  }

  override acquire(options: AcquireOptions = {}): Promise<MultiHeld> {
    return this.#collect(options, (lock, each) => lock.acquire(each)) as Promise<MultiHeld>
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<MultiHeld | null> {
    return this.#collect(options, (lock, each) => lock.tryAcquire(each))
  }

  #collect(
    options: AcquireOptions,
    acquire: (lock: Lock, options: AcquireOptions) => Promise<Held | null>,
  ): Promise<MultiHeld | null> {
    const got: Held[] = []
    const giveBack = { remove: () => releaseAll(got) }
    return withCleanup(this.client, this.path, giveBack, options, async signal => {
      for (;;) {
        const areTaken = await this.#takeAll(got, { ...options, signal, timeout: Infinity }, acquire)
        if (areTaken) return new MultiHeld(this.path, got, rootsOf(this.#locks))
        const isLost = isAnyLost(got)
        const released = releaseAll(got.splice(0))
        if (!isLost) {
          inBackground(this.client, released)
          return null
        }
        // As a waiter queues again whose node is gone.
        await released
      }
    })
  }

  /** False where one is taken, or one of those that were got is lost while the next is waited for. */
  async #takeAll(
    got: Held[],
    { signal, ...options }: AcquireOptions & { signal: AbortSignal },
    acquire: (lock: Lock, options: AcquireOptions) => Promise<Held | null>,
  ): Promise<boolean> {
    try {
      for (const lock of this.#locks) {
        const lostOrGivenUp = AbortSignal.any([signal, ...got.map(held => held.signal)])
        const held = await acquire(lock, { ...options, signal: lostOrGivenUp })
        if (held === null) return false
        got.push(held)
      }
    } catch (error) {
      if (signal.aborted || !isAnyLost(got)) throw error
    }
    return !isAnyLost(got)
  }
}

/** Several locks that are held. `path` and `token` are those of the one acquired last; each lock's own are in `held`. */
export class MultiHeld extends Held {
  /** In the order in which they were acquired. */
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
    if (last === undefined) throw new Error('nothing is held')
    this.held = held
    this.path = last.path
    this.token = last.token
    this.#lock = lock
    this.#roots = roots
    this.#stopListening = held.flatMap(({ signal, revoked }) => [
      follow(signal, this.#lost),
      follow(revoked, this.#revoked),
    ])
  }

  /** Aborts when one of the locks is lost. The others stay held until `release`. */
  override get signal(): AbortSignal {
    return this.#lost.signal
  }

  override get revoked(): AbortSignal {
    return this.#revoked.signal
  }

  override validFor(): number {
    return Math.min(...this.held.map(each => each.validFor()))
  }

  /** @throws LockError UNSUPPORTED also where the locks are below different roots */
  override guard(): Transaction {
    const [first, ...others] = this.held
    if (first === undefined || this.#roots.size > 1) throw new LockError('UNSUPPORTED', this.#lock)
    return others.reduce((transaction, each) => {
      // Asks the other whether it can be guarded at all.
      each.guard()
      return transaction.check(each.path)
    }, first.guard())
  }

  override async release(): Promise<void> {
    await releaseAll(this.held)
    for (const stop of this.#stopListening) stop()
  }
}

function follow(signal: AbortSignal, controller: AbortController): () => void {
  if (signal.aborted) controller.abort(signal.reason)
  return onAbort(signal, () => controller.abort(signal.reason))
}

const isAnyLost = (held: readonly Held[]): boolean => held.some(({ signal }) => signal.aborted)

/** In reverse; one that cannot be released is no reason to keep the others. */
async function releaseAll(held: readonly Held[]): Promise<void> {
  const failures: unknown[] = []
  for (const each of held.toReversed()) await each.release().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

const serverPathOf = ({ client, path }: Lock) => serverPath(client, path)
const rootsOf = (locks: readonly Lock[]) => new Set(locks.map(({ client }) => serverPath(client, '/')))

function inOrder(locks: readonly Lock[]): readonly [Lock, ...Lock[]] {
  const [first, ...others] = locks.toSorted((a, b) => (serverPathOf(a) < serverPathOf(b) ? -1 : 1))
  if (first === undefined) throw refuse('there is no lock')
  if (new Set(locks.map(serverPathOf)).size < locks.length) throw refuse('two of the locks have the same path')
  return [first, ...others]
}

const refuse = (detail: string) => badArguments('MultiLock', '', detail)
