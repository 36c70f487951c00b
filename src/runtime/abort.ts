// Listening to AbortSignals, the signals of our own work, and a lazy AbortController.

/**
 * The property key of the method of a {@link Scope} that {@link onAbort} calls. All copies of this package in one process
 * share it, because the recipes of one may call the client of another.
 */
const listen: unique symbol = Symbol.for('zkwire.Scope.listen')

/** The callbacks that share one listener, and the function that removes the listener. */
interface SharedListener {
  readonly callbacks: Set<() => void>
  stop(): void
}

// One listener per signal, shared by all callbacks, because Node searches all listeners of a signal whenever one is
// added (EventTarget.addEventListener). Adding the hundred-thousandth listener takes a quarter of a millisecond.
const sharedListeners = new WeakMap<AbortSignal, SharedListener>()

/**
 * Calls back once when the signal aborts; never if it has aborted already. Callbacks run in the order of the onAbort
 * calls. Returns a function that stops listening.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined || signal.aborted) return nothing
  if (listen in signal) return (signal as unknown as Scope)[listen](callback)
  const listener = sharedListeners.get(signal) ?? listenTo(signal)
  listener.callbacks.add(callback)
  return () => {
    if (listener.callbacks.delete(callback) && listener.callbacks.size === 0) listener.stop()
  }
}

/**
 * Aborts the controller with the signal's reason when the signal aborts, or at once if it has aborted. Returns a
 * function that stops listening.
 * @param controller an AbortController. Its class is not named, because this file is among the public declarations, and
 * some users have no type AbortController.
 */
export function forwardAbort(
  signal: AbortSignal | undefined,
  controller: { abort(reason: unknown): void },
): () => void {
  if (signal?.aborted) controller.abort(signal.reason)
  return onAbort(signal, () => controller.abort(signal?.reason))
}

/**
 * Returns true if the error says that this signal has aborted: it is the signal's reason, or an AbortError with that
 * cause, with which the functions of Node reject.
 */
export function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  if (!signal.aborted) return false
  const { name, cause } = (error ?? {}) as Partial<Error>
  return error === signal.reason || (name === 'AbortError' && cause === signal.reason)
}

/** Settles as the work does, or rejects with the signal's reason as soon as that aborts. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    const stopListening = onAbort(signal, () => reject(signal.reason as Error))
    work.then(resolve, reject).finally(stopListening)
  })
}

/**
 * Runs work with a signal of its own, which aborts when one of the given ones does, and when the work has ended. So
 * watches and waits that the work leaves behind are removed. (In Node 20, each AbortSignal.any() would leave an entry
 * on the given signals.)
 */
export async function inScope<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const scope = new AbortController()
  const stopForwarding = signals.map(signal => forwardAbort(signal, scope))
  try {
    return await work(scope.signal)
  } finally {
    for (const stop of stopForwarding) stop()
    scope.abort(ENDED)
  }
}

/**
 * The reason with which work of our own ends its watches and waits. No caller sees it. It is shared, because creating an
 * error takes as long as sending a request.
 */
export const ENDED = new Error('the work has ended')

function listenTo(signal: AbortSignal): SharedListener {
  const callbacks = new Set<() => void>()
  const onEvent = () => {
    sharedListeners.delete(signal)
    for (const callback of callbacks) callback()
  }
  const stop = () => {
    sharedListeners.delete(signal)
    signal.removeEventListener('abort', onEvent)
  }
  signal.addEventListener('abort', onEvent, { once: true })
  const listener = { callbacks, stop }
  sharedListeners.set(signal, listener)
  return listener
}

const nothing = () => undefined

/** Callbacks that are called once, in the order in which they were added. */
class Callbacks {
  /** Created with the first callback, because most signals of our own are never listened to. */
  #all: Set<() => void> | undefined

  /** Returns a function that removes the callback. */
  add(callback: () => void): () => void {
    const all = (this.#all ??= new Set())
    all.add(callback)
    return () => void all.delete(callback)
  }

  call(): void {
    for (const callback of this.#all ?? NONE) callback()
  }
}

const NONE: readonly (() => void)[] = []

/**
 * The AbortController of work of our own, and its signal in one. A caller's function must not get it, because it has
 * only what {@link onAbort} and the client need of an AbortSignal. Those of Node took a sixth of the client's processor
 * time in a hand-over of a lock: each gets its prototype after it was created, so V8 finds no property of it in a cache.
 */
export class Scope {
  aborted = false
  reason: unknown = undefined
  readonly #callbacks = new Callbacks()

  /** This object, for what takes an AbortSignal. */
  get signal(): AbortSignal {
    return this as unknown as AbortSignal
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  /** Has no effect after the first call. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#callbacks.call()
  }

  /** See {@link onAbort}. */
  [listen](callback: () => void): () => void {
    return this.#callbacks.add(callback)
  }
}

/**
 * An AbortController that creates its signal and its reason only when `signal` is read, because creating them is slow.
 */
export class Abort {
  #controller: AbortController | undefined
  #reason: (() => unknown) | undefined
  readonly #callbacks = new Callbacks()

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

  /** Has no effect after the first call. */
  abort(reason: () => unknown): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason())
    this.#callbacks.call()
  }

  /**
   * Calls back once when it is aborted; never if that has happened already. Creates no signal. Returns a function that
   * stops listening.
   */
  listen(callback: () => void): () => void {
    return this.isDone ? nothing : this.#callbacks.add(callback)
  }
}
