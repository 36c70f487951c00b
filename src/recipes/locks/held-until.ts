// A held lock that its holder should release when a signal aborts.
import { forwardAbort, onAbort } from '../../runtime/abort.ts'
import type { Transaction } from '../../client/index.ts'
import { Held } from './held.ts'

/** A held lock whose signal also aborts when another signal does. It is still held then, until it is released. */
export class HeldUntil extends Held {
  readonly #held: Held
  readonly #ended = new AbortController()
  readonly #stopListening: readonly (() => void)[]

  constructor(held: Held, stop: AbortSignal | undefined) {
    super()
    this.#held = held
    // The end of a session aborts both signals, in any order. The lock reports its loss when its signal is read, so that
    // the reason is LOST and not that of `stop`.
    const onStop = () => {
      if (!held.signal.aborted) this.#ended.abort(stop?.reason)
    }
    this.#stopListening = [forwardAbort(held.signal, this.#ended), onAbort(stop, onStop)]
    if (stop?.aborted) onStop()
  }

  override get path(): string {
    return this.#held.path
  }

  override get token(): bigint {
    return this.#held.token
  }

  override get signal(): AbortSignal {
    // Makes the lock notice an expired lease.
    this.validFor()
    return this.#ended.signal
  }

  override get revoked(): AbortSignal {
    return this.#held.revoked
  }

  override validFor(): number {
    return this.#held.validFor()
  }

  override guard(): Transaction {
    return this.#held.guard()
  }

  override async release(): Promise<void> {
    await this.#held.release()
    for (const stop of this.#stopListening) stop()
  }
}
