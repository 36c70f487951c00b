// A lock that is held: the result of acquire().
import { aBoolean, clockOf, holdLease, inBackground, leaseLossOf, noticeExpiry } from '../../client/recipe-support.ts'
import type { Checks } from '../../options/checks.ts'
import { isCode, ZooKeeperError } from '../../protocol/index.ts'
import { Abort, Scope } from '../../runtime/abort.ts'
import type { Client, ReadOptions, Transaction, WatchEvent } from '../../client/index.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import type { Node, OwnNode } from '../node/own-node.ts'
import { readWatched } from '../node/read-with-watch.ts'
import { publishEnd } from './acquiring.ts'
import { isRevocation } from './revoke.ts'

const inspect: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/**
 * A lock that is held until it is released or lost. It is lost when the session ends, or when the leader of the ensemble
 * has not confirmed the session for the session timeout: see {@link Client.validFor}. If it watches its own node, it is
 * also lost when another client deletes that node.
 *
 * No lock service can prevent a stalled holder from acting late. Write through `guard()`, or register `token` at the
 * protected resource before you read from it, and let it refuse lower ones.
 * @example
 * await using held: Held = await new Mutex(zk, '/locks/orders').acquire()
 * await zk.create('/orders', 'v1')
 * await held.guard().setData('/orders', 'v2').commit()
 * held.validFor() > 0 // => true
 * held.signal.aborted // => false
 */
export abstract class Held implements AsyncDisposable {
  /**
   * The path of the lock's own node.
   * @example
   * await using held = await new Mutex(zk, '/locks/orders').acquire()
   * held.path // => /^\/locks\/orders\/_c_.*-lock-0000000000$/
   */
  abstract readonly path: string
  /**
   * The fencing token: the transaction that created the node. It grows from each exclusive holder to the next.
   * @example
   * const first = await new Mutex(zk, '/locks/orders').use(held => held.token)
   * const second = await new Mutex(other, '/locks/orders').use(held => held.token)
   * second > first // => true
   */
  abstract readonly token: bigint
  /**
   * Aborts when the lock is lost or must be presumed lost: before another client can have the lock, unless a client
   * deletes the lock's node or closes the session. Its reason is a RecipeError LOST, whose cause is a ZooKeeperError that
   * says why: CONNECTIONLOSS if the leader has not confirmed the session for its timeout; SESSIONEXPIRED, CLOSED or
   * AUTHFAILED if the session has ended; NONODE if a server reports that the node is deleted. After a stall of the
   * process it aborts at the first event of the event loop, or when this property is read. A release does not abort it.
   * @example
   * await using held = await new Mutex(zk, '/locks/orders').acquire({ watchOwnNode: true })
   * const lost = new Promise(resolve => held.signal.addEventListener('abort', resolve))
   * await other.delete(held.path)
   * await lost
   * held.validFor() // => 0
   */
  abstract readonly signal: AbortSignal
  /**
   * Aborts when a client asks the holder to release the lock, by `revoke()` or Curator's Revoker. Never aborts without
   * `watchOwnNode`. The lock stays held until the holder releases it.
   * @example
   * await using held = await new Mutex(zk, '/locks/orders').acquire({ watchOwnNode: true })
   * const revoked = new Promise(resolve => held.revoked.addEventListener('abort', resolve))
   * await revoke(other, held.path)
   * await revoked
   * held.signal.aborted // => false
   */
  abstract readonly revoked: AbortSignal

  /**
   * Returns for how many milliseconds from now no other client can have the lock, unless a client deletes the lock's
   * node or closes the session. Returns 0 if the lock is lost or released.
   * @example
   * const held = await new Mutex(zk, '/locks/orders').acquire()
   * held.validFor() > 0 // => true
   * await held.release()
   * held.validFor() // => 0
   */
  abstract validFor(): number

  /**
   * Returns a transaction to which writes can be added. It fails if the lock's node does not exist any more, so that a
   * holder that lost the lock cannot write.
   * @throws RecipeError UNSUPPORTED if another node may get the same name
   * @example
   * const held = await new Mutex(zk, '/locks/orders').acquire()
   * const write = held.guard().create('/orders', 'v1')
   * await other.delete(held.path)
   * await write.commit() // throws NONODE
   */
  abstract guard(): Transaction

  /**
   * Releases the lock. Resolves when the node is known to be deleted or the session has ended. May be called again.
   * @throws ZooKeeperError NOAUTH if the server refuses to delete the node; the lock is then still held
   * @example
   * const held = await new Mutex(zk, '/locks/orders').acquire()
   * await held.release()
   * await zk.exists(held.path) // => null
   */
  abstract release(): Promise<void>

  /** Calls {@link release}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  /** Makes console.log show the path, the token and the state, instead of the client. */
  [inspect](): string {
    const validFor = this.validFor()
    const state = validFor > 0 ? `held, valid for ${Math.floor(validFor)} ms` : 'not held'
    return `${this.constructor.name} { ${this.path}, token ${this.token}, ${state} }`
  }
}

/**
 * Returns true if a server reported the end of the session while the lease was still valid. For example, an operator
 * has closed the session. The session may then have ended at any time before the report.
 */
export const isEarlyEnd = (cause: unknown): boolean => isCode(cause, 'SESSIONEXPIRED')

export interface HoldOptions {
  /**
   * Watches the lock's own node while the lock is held. `signal` then also aborts when another client deletes the node,
   * and `revoked` aborts when a client asks for the lock. The session needs READ permission on the node, because
   * servers send no events about a node that the session may not read (since CVE-2024-23944: 3.8.4, 3.9.2). Default:
   * true in `use`, `campaign` and `lead`, otherwise false.
   */
  watchOwnNode?: boolean | undefined
}

export const holdOptionChecks: Checks<HoldOptions> = { watchOwnNode: aBoolean }

/** Returns the options with watchOwnNode true by default. */
export const watchingOwnNode = <O extends HoldOptions>(options: O): O => ({
  ...options,
  watchOwnNode: options.watchOwnNode ?? true,
})

export class NodeHeld extends Held {
  override readonly path: string
  override readonly token: bigint
  protected readonly client: Client
  /** The lock's path, for errors. */
  protected readonly lock: string
  readonly #ownNode: OwnNode
  /** The node at {@link path}, and those that are held with it. */
  readonly #nodes: readonly Node[]
  readonly #leaseLoss: Abort
  readonly #lost = new Abort()
  readonly #revoked = new Abort()
  readonly #watching = new Scope()
  #isWatched = false
  readonly #endHold: () => void
  readonly #acquiredAt: number
  #stopListening: (() => void) | undefined
  #released: Promise<void> | undefined
  /**
   * A loss that was noticed during a release. It is reported only if the release fails, or if the loss may be older
   * than the release.
   */
  #lossDuringRelease: { cause: unknown } | undefined

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
    this.#nodes = ownNode.nodes
    this.#endHold = holdLease(client)
    this.#acquiredAt = clockOf(client).now()
    this.#leaseLoss = leaseLossOf(client)
    this.#stopListening = this.#leaseLoss.listen(() => this.#onLeaseLost())
    if (this.#leaseLoss.isDone) this.#onLeaseLost()
    if (watchOwnNode) this.watchOwnNode()
    // The transaction that deleted the predecessor may have deleted this node too. Its event then arrives next.
    ownNode.onGone(() => this.lose(undefined))
  }

  /** @internal Starts to watch the lock's own node, as the option does. Does nothing if it is watched already. */
  watchOwnNode(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    for (const node of this.#nodes) void this.#watch(node)
  }

  override get signal(): AbortSignal {
    this.#checkLease()
    return this.#lost.signal
  }

  /** @internal True if the loss of the lock was noticed. */
  get isLost(): boolean {
    return this.#lost.isDone
  }

  override get revoked(): AbortSignal {
    return this.#revoked.signal
  }

  override validFor(): number {
    return this.#lost.isDone || this.#released !== undefined ? 0 : this.client.validFor()
  }

  override guard(): Transaction {
    if (!this.#ownNode.isUnique) throw new RecipeError('UNSUPPORTED', this.lock, { detail: NO_GUARD })
    return this.#nodes.reduce((transaction, { path }) => transaction.check(path), this.client.transaction())
  }

  override release(): Promise<void> {
    this.#checkLease()
    return (this.#released ??= this.#release())
  }

  /**
   * Reports the loss now, if a timer or a listener would report it later: after the process was stopped for too long, or
   * if this call comes from an earlier listener of the lease.
   */
  #checkLease(): void {
    noticeExpiry(this.client)
    if (this.#leaseLoss.isDone) this.#onLeaseLost()
  }

  #onLeaseLost(): void {
    this.lose(this.#leaseLoss.signal.reason)
  }

  async #release(): Promise<void> {
    try {
      await this.#ownNode.remove()
      this.#detach()
      this.#endHold()
      const { cause } = this.#lossDuringRelease ?? {}
      if (isEarlyEnd(cause)) this.#reportLost(cause)
      else if (!this.#lost.isDone) this.#publishEnd()
    } catch (error) {
      this.#released = undefined
      if (this.#lossDuringRelease !== undefined) this.lose(this.#lossDuringRelease.cause)
      throw error
    }
  }

  /**
   * Reports the lock as lost, because another client may hold it now.
   * @param cause undefined if the node at `path` was deleted
   */
  protected lose(cause: unknown, path = this.path): void {
    if (this.#released !== undefined) {
      // The release itself deletes the node, so an end of the session that is reported later says more.
      this.#lossDuringRelease = { cause: this.#lossDuringRelease?.cause ?? cause }
      return
    }
    this.#detach()
    if (this.#lost.isDone) return
    this.#reportLost(cause, path)
    // If the session survives, its node does too, and would block the other contenders.
    const removed = this.#ownNode.remove().finally(this.#endHold)
    inBackground(this.client, removed, this.lock)
  }

  #publishEnd(): void {
    publishEnd(this.client, this.lock, this, this.#acquiredAt, this.#lost)
  }

  #reportLost(cause: unknown, path = this.path): void {
    if (this.#lost.isDone) return
    this.#lost.abort(() => {
      const known = cause ?? new ZooKeeperError('NONODE', { path, fate: 'unknown', detail: 'it was deleted' })
      const detail = 'another client may hold the lock now (see cause): stop the work that it protects'
      return new RecipeError('LOST', this.lock, { detail, cause: known })
    })
    this.#publishEnd()
  }

  #detach(): void {
    this.#stopListening?.()
    this.#watching.abort(undefined)
  }

  /** Sets a watch again after each event. The czxid shows whether the node is still ours. */
  async #watch({ path, czxid }: Node): Promise<void> {
    const { signal } = this.#watching
    // At once, and not after another read: the next event may grant another lock to the same caller.
    const onEvent = ({ type }: WatchEvent) => {
      if (type === 'NodeDeleted') this.lose(undefined, path)
    }
    const read = (options: ReadOptions) => this.client.exists(path, options)
    const isOurs = async () => {
      const { value: stat, changed } = await readWatched(signal, read, onEvent)
      if (stat?.czxid !== czxid) return false
      if (stat.version > 0 && (await isRevocation(this.client, path))) this.#revoked.abort(() => undefined)
      await changed
      // The event may be that of a release in flight.
      await this.#released?.catch(() => undefined)
      return true
    }
    try {
      while (await retryUntilDone(this.client, isOurs, { signal }));
      if (!signal.aborted) this.lose(undefined, path)
    } catch (error) {
      // NOAUTH: the session may not read its own node and gets no events (ZOOKEEPER-2590: from 3.8.4, 3.9.2 on), but it
      // still holds the lock. The lease reports the end of the session. After any other error the node may be gone, so
      // the lock counts as lost.
      if (!signal.aborted && !isCode(error, 'NOAUTH', 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) this.lose(error)
    }
  }
}

const NO_GUARD =
  "guard() is not available, because the name of this lock's node can be used again: compare tokens instead"
