// A lock that is held.
import { isCode } from '../protocol/index.ts'
import { onAbort } from '../session/abort.ts'
import type { Client, Transaction } from '../session/index.ts'
import { LockError } from './lock-error.ts'
import type { Place } from './place.ts'
import { watched } from './watched.ts'

/**
 * A lock that is held, until it is released or lost. It is lost when the session is, when the session must be presumed lost
 * because no server has answered for the session timeout, and, if its own node is watched, when somebody deletes that.
 *
 * No lock service can keep a holder that was stalled from acting late: have what the lock protects refuse a `token` that is lower
 * than one it has seen, or write through {@link Held.guard}.
 */
export class Held implements AsyncDisposable {
  /** The lock's own node. */
  readonly path: string
  /** The fencing token: the transaction that created the node. Of two holders one after the other, the later has the larger. */
  readonly token: bigint
  readonly #client: Client
  readonly #place: Place
  readonly #directory: string
  readonly #lease: AbortSignal
  readonly #lost = new AbortController()
  readonly #watching = new AbortController()
  #stopListening: (() => void) | undefined
  #released: Promise<void> | undefined

  constructor(client: Client, directory: string, place: Place, { watchOwnNode = false }: { watchOwnNode?: boolean }) {
    const { path, czxid } = place.node
    this.path = path
    this.token = czxid
    this.#client = client
    this.#directory = directory
    this.#place = place
    this.#lease = client.lease
    if (this.#lease.aborted) this.#lose(this.#lease.reason)
    else this.#stopListening = onAbort(this.#lease, () => this.#lose(this.#lease.reason))
    if (watchOwnNode) void this.#watch()
  }

  /** Aborts, with a LockError LOST, when the lock is lost or must be presumed lost. It never aborts for a release. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Milliseconds for which the lock is surely held; 0 when it is lost or released. Computed at the call. */
  validFor(): number {
    return this.#lost.signal.aborted || this.#released !== undefined ? 0 : this.#client.validFor()
  }

  /** A transaction that does nothing once the lock's node is gone, so that a holder which lost it cannot write. */
  guard(): Transaction {
    return this.#client.transaction().check(this.path)
  }

  /** Resolves when the node is known to be gone, or the session is over. May be called again. */
  release(): Promise<void> {
    this.#detach()
    return (this.#released ??= this.#place.leave().catch((error: unknown) => {
      this.#released = undefined
      throw error
    }))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  #lose(cause: unknown): void {
    this.#detach()
    if (this.#lost.signal.aborted) return
    this.#lost.abort(new LockError('LOST', this.#directory, { cause }))
    // The session may come back, and with it the node: nobody holds it any more.
    this.#client.inBackground(this.#place.leave())
  }

  #detach(): void {
    this.#stopListening?.()
    this.#watching.abort()
  }

  /** An event is a hint: whether the node is still ours, its czxid tells. */
  async #watch(): Promise<void> {
    const { signal } = this.#watching
    const isOurs = async () => {
      const { value, changed } = await watched(signal, options => this.#client.getData(this.path, options))
      if (value.stat.czxid !== this.token) return false
      await changed
      return true
    }
    try {
      while (await this.#client.retry(isOurs, { signal }));
    } catch (error) {
      if (!isCode(error, 'NONODE')) return
    }
    if (!signal.aborted) this.#lose(undefined)
  }
}
