// The work of a recipe in one session. It repeats rounds until the recipe stops it or the session ends.
import { callLater, isTerminal, newPace } from '../../client/recipe-support.ts'
import { isCode, ZooKeeperError } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { TEMPORARY } from '../node/retry-until-done.ts'

/**
 * One round: brings the server to the wanted state, calls {@link SessionLoop.reached}, and resolves when something has
 * changed. The next round follows at once. After an error it follows after a pause.
 */
export type Round = (loop: SessionLoop) => Promise<void>

interface Waiter {
  readonly goal: number
  resolve(): void
  reject(error: unknown): void
}

export class SessionLoop {
  /** A view, so that removeWatches() of the caller does not remove the watches of the recipe. */
  readonly client: Client
  readonly #source: Client
  readonly #scope = new AbortController()
  readonly #done: Promise<void>
  readonly #waiters = new Set<Waiter>()
  #reached = -1
  /** Why the loop has ended; undefined while it runs. */
  #end: { error: unknown } | undefined
  /** The code of the last error that was reported. Each is reported once. */
  #reported: unknown

  constructor(client: Client, round: Round) {
    this.client = client.chroot('/')
    this.#source = client

    this.#done = this.#repeat(round)
  }

  /** Aborts when the loop is stopped. */
  get signal(): AbortSignal {
    return this.#scope.signal
  }

  get isRunning(): boolean {
    return this.#end === undefined && !this.signal.aborted
  }

  /** Returns true if the loop was started with this client. */
  isOf(client: Client): boolean {
    return this.#source === client
  }

  hasReached(goal: number): boolean {
    return this.#reached >= goal
  }

  /**
   * Resolves when a round has reached this goal or a later one. Goals are numbers that grow from 0.
   * @throws the error that prevents it; the reason of {@link stop}; the error of the session if that ends first
   */
  when(goal: number): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end.error)
    if (this.hasReached(goal)) return Promise.resolve()
    return new Promise((resolve, reject) => void this.#waiters.add({ goal, resolve, reject }))
  }

  /** A round calls this when the server is in the wanted state. */
  reached(goal: number): void {
    this.#reached = goal
    this.#reported = undefined
    for (const waiter of this.#waiters) {
      if (waiter.goal > goal) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
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

  /** Returns false if the loop must not go on, because it has never reached its first goal. */
  #onError(error: unknown): boolean {
    if (!this.hasReached(0)) {
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
    this.#waiters.clear()
  }
}

/** Returns the reason of {@link SessionLoop.stop}, with which pending calls reject. */
export const closed = (path: string): ZooKeeperError =>
  new ZooKeeperError('CLOSED', { op: 'close', path, fate: 'unknown' })
