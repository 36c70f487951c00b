// The signals that end a command, or that a command handles itself.
import { constants } from 'node:os'
import { Interrupted } from './failure.ts'

/**
 * Receives the signals of one command. A process passes on those that it gets; a shell calls {@link deliver} when the
 * user presses Ctrl-C.
 */
export class Signals {
  readonly #ending = new AbortController()
  #handler: ((name: NodeJS.Signals) => void) | undefined

  /** Aborts with an {@link Interrupted} at the first signal that no handler takes. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  deliver(name: NodeJS.Signals): void {
    if (this.#handler !== undefined) this.#handler(name)
    else this.#ending.abort(new Interrupted(name, constants.signals[name]))
  }

  /** Calls the handler with each signal from now on. Returns a function that undoes this. */
  handle(handler: (name: NodeJS.Signals) => void): () => void {
    this.#handler = handler
    return () => {
      if (this.#handler === handler) this.#handler = undefined
    }
  }
}
