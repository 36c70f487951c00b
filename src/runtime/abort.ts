// Aborting, and listening to signals.

/** Who waits for a signal, and how its listener is taken back. */
interface Listening {
  readonly callbacks: Set<() => void>
  stop(): void
}

/**
 * A signal has one listener of ours, however many wait for it: Node looks through all of a signal's listeners for each that is added
 * (EventTarget.addEventListener), which for the hundred-thousandth call under one signal takes a quarter of a millisecond.
 */
const listenings = new WeakMap<AbortSignal, Listening>()

/** Calls back when the signal aborts, once, in the order of the calls; returns the way to stop listening. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing
  const listening = listenings.get(signal) ?? listenTo(signal)
  listening.callbacks.add(callback)
  return () => {
    if (listening.callbacks.delete(callback) && listening.callbacks.size === 0) listening.stop()
  }
}

function listenTo(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>()
  const heard = () => {
    listenings.delete(signal)
    for (const callback of callbacks) callback()
  }
  const stop = () => {
    listenings.delete(signal)
    signal.removeEventListener('abort', heard)
  }
  signal.addEventListener('abort', heard, { once: true })
  const listening = { callbacks, stop }
  listenings.set(signal, listening)
  return listening
}

const nothing = () => undefined

/** An AbortController whose signal and reason are made when somebody asks for the signal: to make them takes longer than all else about it. */
export class Abort {
  #controller: AbortController | undefined
  #reason: (() => unknown) | undefined

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason())
    }
    return this.#controller.signal
  }

  get isDone(): boolean {
    return this.#reason !== undefined
  }

  /** Does nothing the second time. */
  abort(reason: () => unknown): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason())
  }
}
