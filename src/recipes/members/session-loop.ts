// The work of a recipe in one session. It repeats rounds until the recipe stops it or the session ends.
import { callLater, isTerminal, newPace, serverPath, sessionKey } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { TEMPORARY } from '../call/retry-until-done.ts'

/**
 * One round: brings the server to the wanted state, calls {@link SessionLoop.reached}, and resolves when something has
 * changed. The next round follows at once. After an error it follows after a pause.
 */
export type Round = (loop: SessionLoop) => Promise<void>

interface Wait {
  isMet(): boolean
  resolve(): void
  reject(error: unknown): void
}

export class SessionLoop {
  /** A view, so that removeWatches() of the caller does not remove the watches of the recipe. */
  readonly client: Client
  /** The calls of start() that rely on this loop: those that wait for it, and those that have succeeded. */
  starts = 0
  readonly #scope = new AbortController()
  readonly #done: Promise<void>
  readonly #waiters = new Set<Wait>()
  #goal = -1
  /** Why the loop has ended; undefined while it runs. */
  #end: { error: unknown } | undefined
  /** The code of the last error that was reported. Each is reported once. */
  #reported: unknown

  constructor(client: Client, round: Round) {
    this.client = client.chroot('/')
    this.#done = this.#repeat(round)
  }

  /** Aborts when the loop is stopped. */
  get signal(): AbortSignal {
    return this.#scope.signal
  }

  get isRunning(): boolean {
    return this.#end === undefined && !this.signal.aborted
  }

  /** The last goal that a round has reached: 0 or more. -1 before the first. */
  get goal(): number {
    return this.#goal
  }

  /** Returns true for a client of the same session with the same root. */
  serves(client: Client): boolean {
    return sessionKey(client) === sessionKey(this.client) && serverPath(client, '/') === serverPath(this.client, '/')
  }

  /**
   * Resolves when the condition is met. It is checked now, and each time when a round has reached the wanted state.
   * @throws the error that prevents it; the reason of {@link stop}; the error of the session if that ends first; the
   * signal's reason
   */
  async until(isMet: () => boolean, signal?: AbortSignal): Promise<void> {
    if (this.#end !== undefined) throw this.#end.error
    if (isMet()) return
    signal?.throwIfAborted()
    let stopListening = () => {}
    let waiter: Wait | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        stopListening = onAbort(signal, () => reject(signal?.reason as Error))
        waiter = { isMet, resolve, reject }
        this.#waiters.add(waiter)
      })
    } finally {
      stopListening()
      if (waiter !== undefined) this.#waiters.delete(waiter)
    }
  }

  /** A round calls this when the server is in the wanted state. */
  reached(goal = 0): void {
    this.#goal = goal
    this.#reported = undefined
    for (const waiter of this.#waiters) if (waiter.isMet()) waiter.resolve()
  }

  /** Stops the loop, and resolves when no request of it is in flight. May be called again. */
  async stop(reason: unknown): Promise<void> {
    this.#scope.abort(reason)
    this.#finish(reason)
    await this.#done
  }

  async #repeat(round: Round): Promise<void> {
    const { client, signal } = this
    const pace = newPace(client)
    // The caller must have the loop before its first round starts.
    await Promise.resolve()
    while (!signal.aborted) {
      try {
        if (client.state !== 'connected') await client.whenConnected({ signal })
        await round(this)
      } catch (error) {
        if (isTerminal(client.state) || isCode(error, 'CLOSED')) this.#finish(error)
        if (!this.isRunning) return
        if (!isCode(error, 'CONNECTIONLOSS', ...TEMPORARY) && !this.#onError(error)) return
        await pace.wait(signal)
      }
    }
  }

  /** Returns false if the loop must not go on, because it has never reached the wanted state. */
  #onError(error: unknown): boolean {
    if (this.#goal < 0) {
      this.#finish(error)
      return false
    }
    this.#reject(error)
    const code = (error as { code?: unknown }).code ?? error
    if (code !== this.#reported) callLater(this.client, () => Promise.reject(error))
    this.#reported = code
    return true
  }

  #finish(error: unknown): void {
    this.#end ??= { error }
    this.#reject(error)
  }

  #reject(error: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(error)
  }
}
