// The signals that end a command, or that a command handles itself.
import { constants } from 'node:os'
import { Interrupted } from './failure.ts'

/** Signals that a program may use, and that end this process, or do nothing, if no handler takes them. */
const others = ['SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT', 'SIGTSTP'] as const

/** Calls the listener with each signal of that name that the process gets. Returns a function that undoes this. */
export type Listen = (name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void) => () => void

/**
 * Receives the signals of one command. A process passes on those that it gets; a shell calls {@link deliver} when the
 * user presses Ctrl-C.
 */
export class Signals {
  readonly #ending = new AbortController()
  readonly #listen: Listen
  #handler: ((name: NodeJS.Signals) => void) | undefined

  /** @param listen how further signals are received while a handler takes them. Default: they are not */
  constructor(listen: Listen = () => () => undefined) {
    this.#listen = listen
  }

  /** Aborts with an {@link Interrupted} at the first signal that no handler takes. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  deliver(name: NodeJS.Signals): void {
    if (this.#handler !== undefined) this.#handler(name)
    else this.#ending.abort(new Interrupted(name, constants.signals[name]))
  }

  /** Calls the handler with each signal from now on, instead of ending the command. Returns a function that undoes this. */
  handle(handler: (name: NodeJS.Signals) => void): () => void {
    this.#handler = handler
    const stopListening = others.map(name => this.#listen(name, handler))
    return () => {
      this.#handler = undefined
      for (const stop of stopListening) stop()
    }
  }
}
