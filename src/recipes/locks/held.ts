// A lock that is held.
import { inBackground, optionsProblem } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import { Abort, onAbort } from '../../runtime/abort.ts'
import type { Client, Transaction } from '../../client/index.ts'
import { LockError } from '../node/lock-error.ts'
import type { OwnNode } from '../node/own-node.ts'
import { retryForever } from '../node/retry-until-done.ts'
import { isRevocation } from './revoke.ts'
import { readWatched } from '../node/read-with-watch.ts'

/**
 * A lock that is held, until it is released or lost. It is lost when the session is, when the session must be presumed lost
 * because no server has answered for the session timeout, and, if its own node is watched, when somebody deletes that.
 *
 * No lock service can keep a holder that was stalled from acting late: have what the lock protects refuse a `token` that is lower
 * than one it has seen, or write through `guard()`.
 */
export abstract class Held implements AsyncDisposable {
  /** The lock's own node. */
  abstract readonly path: string
  /** The fencing token: the transaction that created the node. Of two exclusive holders one after the other, the later has the larger. */
  abstract readonly token: bigint
  /** Aborts, with a LockError LOST, when the lock is lost or must be presumed lost. It never aborts for a release. */
  abstract readonly signal: AbortSignal
  /**
   * Aborts when somebody asks for the lock back, by `revoke()` or as Curator's Revoker does; with `watchOwnNode` only. Nothing follows
   * of itself.
   */
  abstract readonly revoked: AbortSignal

  /** Milliseconds for which the lock is surely held; 0 when it is lost or released. Computed at the call. */
  abstract validFor(): number

  /**
   * A transaction that does nothing once the lock's node is gone, so that a holder which lost it cannot write.
   * @throws LockError UNSUPPORTED where another node may come to have the same name
   */
  abstract guard(): Transaction

  /**
   * Resolves when the node is known to be gone, or the session is over. May be called again.
   * @throws ZooKeeperError NOAUTH where the server refuses to delete the node: the lock is held as before then
   */
  abstract release(): Promise<void>

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }
}

/**
 * Runs a function while something is held, and gives that back behind it. It is `await using` by hand, which a compiler would write out in
 * more than a kilobyte for each file.
 * @throws AggregateError of both where the function fails and the release is refused too
 */
export async function runWhileHeld<T>(held: { release(): Promise<void> }, fn: () => T | Promise<T>): Promise<T> {
  let value: T
  try {
    value = await fn()
  } catch (error) {
    await held.release().catch((refusal: unknown) => {
      throw new AggregateError([error, refusal], 'what was done with the lock failed, and so did its release')
    })
    throw error
  }
  await held.release()
  return value
}

export interface HoldOptions {
  /**
   * Watch the lock's own node while it is held, so that `signal` also aborts when somebody deletes that, and `revoked` when somebody asks for
   * the lock back. It takes the permission to read that node: servers tell nobody of a node that he may not read (since CVE-2024-23944:
   * 3.8.4, 3.9.2). Default false.
   */
  watchOwnNode?: boolean
}

/** With {@link HoldOptions.watchOwnNode}, unless they say otherwise. What is no options stays so, for the call to refuse. */
export const watchingOwnNode = <O extends HoldOptions>(options: O): O =>
  optionsProblem(options) === undefined ? { ...options, watchOwnNode: options.watchOwnNode ?? true } : options

export class NodeHeld extends Held {
  override readonly path: string
  override readonly token: bigint
  protected readonly client: Client
  /** The lock's own path, for errors. */
  protected readonly lock: string
  readonly #ownNode: OwnNode
  readonly #lease: AbortSignal
  readonly #lost = new Abort()
  readonly #revoked = new Abort()
  readonly #watching = new Abort()
  #isWatched = false
  #stopListening: (() => void) | undefined
  #released: Promise<void> | undefined
  /** A loss while it was being released: of no matter, unless the release is refused. */
  #missed: { cause: unknown } | undefined

  constructor(
    client: Client,
    lock: string,
    ownNode: OwnNode,
    { watchOwnNode = false, token }: HoldOptions & { token?: bigint },
  ) {
    super()
    const { path, czxid } = ownNode.node
    this.path = path
    this.token = token ?? czxid
    this.client = client
    this.lock = lock
    this.#ownNode = ownNode
    this.#lease = client.leaseSignal
    if (this.#lease.aborted) this.lose(this.#lease.reason)
    else this.#stopListening = onAbort(this.#lease, () => this.lose(this.#lease.reason))
    if (watchOwnNode) this.watchOwnNode()
  }

  /** As the option of that name, from now on. */
  watchOwnNode(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    void this.#watch()
  }

  override get signal(): AbortSignal {
    return this.#lost.signal
  }

  override get revoked(): AbortSignal {
    return this.#revoked.signal
  }

  override validFor(): number {
    return this.#lost.isDone || this.#released !== undefined ? 0 : this.client.validFor()
  }

  override guard(): Transaction {
    if (!this.#ownNode.isUnique) throw new LockError('UNSUPPORTED', this.lock)
    return this.client.transaction().check(this.path)
  }

  override release(): Promise<void> {
    return (this.#released ??= this.#release())
  }

  async #release(): Promise<void> {
    try {
      await this.#ownNode.remove()
      this.#detach()
    } catch (error) {
      this.#released = undefined
      if (this.#missed !== undefined) this.lose(this.#missed.cause)
      throw error
    }
  }

  /** It is known, or must be presumed, that others may have the lock. */
  protected lose(cause: unknown): void {
    if (this.#released !== undefined) {
      this.#missed ??= { cause }
      return
    }
    this.#detach()
    if (this.#lost.isDone) return
    this.#lost.abort(() => new LockError('LOST', this.lock, { cause }))
    // The session may come back, and with it the node: nobody holds it any more.
    inBackground(this.client, this.#ownNode.remove())
  }

  #detach(): void {
    this.#stopListening?.()
    this.#watching.abort(() => undefined)
  }

  /** Each look asks for the next event; whether the node is still ours, its czxid tells. */
  async #watch(): Promise<void> {
    const { signal } = this.#watching
    const isOurs = async () => {
      const { value: stat, changed } = await readWatched(signal, options => this.client.exists(this.path, options))
      if (stat?.czxid !== this.#ownNode.node.czxid) return false
      if (stat.version > 0 && (await isRevocation(this.client, this.path))) this.#revoked.abort(() => undefined)
      await changed
      // It may be the release that is told of.
      await this.#released?.catch(() => undefined)
      return true
    }
    try {
      while (await retryForever(this.client, isOurs, { signal }));
      if (!signal.aborted) this.lose(undefined)
    } catch (error) {
      // Who may not read the node is told nothing of it, or refused a look (ZOOKEEPER-2590: from 3.8.4, 3.9.2 on), and holds it all the same.
      // Who cannot watch it otherwise cannot vouch for it. The end of the session is told by the lease.
      if (!signal.aborted && !isCode(error, 'NOAUTH', 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) this.lose(error)
    }
  }
}
