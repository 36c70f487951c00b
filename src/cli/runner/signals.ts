// The signals that end a command, or that a command handles itself.
import { constants } from 'node:os'
import { Interrupted } from './failure.ts'

/** Signals that a program may use, and that end this process, or do nothing, if no handler takes them. */
const others = ['SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT', 'SIGTSTP'] as const

/** Calls the listener with each signal of that name that the process gets. Returns a function that undoes this. */
export type Listen = (name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void) => () => void

/** The signals that end a command unless it handles them. */
export const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly NodeJS.Signals[]

/**
 * Stops this process as Ctrl-Z does if no handler takes SIGTSTP. Returns when the process continues; at once if nobody
 * could continue it, because no shell controls it.
 */
export function suspend(): void {
  const handlers = process.listeners('SIGTSTP')
  process.removeAllListeners('SIGTSTP')
  process.kill(process.pid, 'SIGTSTP')
  for (const handler of handlers) process.on('SIGTSTP', handler)
}

/**
 * Receives the signals of one command. A process passes on those that it gets; a shell calls {@link deliver} for
 * the command that runs.
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

  /** Passes a signal on to the handler. Without one, ends the command if that is what the signal is for. */
  deliver(name: NodeJS.Signals): void {
    if (this.#handler !== undefined) this.#handler(name)
    else if (ENDING.some(each => each === name)) this.#ending.abort(new Interrupted(name, constants.signals[name]))
    else if (name === 'SIGTSTP') suspend()
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
