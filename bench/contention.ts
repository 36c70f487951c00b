// N contenders for one lock, each in a session of its own: one holds it, the others wait.
import type { Client } from '../src/index.ts'
import type { Grant, Lock, Recipe } from './recipes.ts'

interface Contender {
  lock: Lock
  /** Gives up its place in the queue. */
  leave: AbortController
}

export class Contention {
  readonly #sessions: readonly Client[]
  readonly #contenders: Contender[]
  readonly #onFailure: (error: unknown) => void
  #holder: { contender: Contender; grant: Grant } | undefined
  #releaser: Contender | undefined
  #granted: () => void = () => undefined

  constructor(recipe: Recipe, sessions: readonly Client[], directory: string, onFailure: (error: unknown) => void) {
    this.#sessions = sessions
    this.#contenders = sessions.map(session => ({
      lock: recipe.lock(session, directory),
      leave: new AbortController(),
    }))
    this.#onFailure = onFailure
  }

  /** Has all of them queue. Resolves when the first holds the lock; the others may not have settled yet. */
  async gather(): Promise<void> {
    const granted = this.#nextGrant()
    for (const contender of this.#contenders) this.#queue(contender)
    await granted
  }

  /** The holder releases. Resolves with the milliseconds until the next one has the lock. */
  async handOver(): Promise<number> {
    if (this.#holder === undefined) throw new Error('nobody holds the lock')
    const { contender, grant } = this.#holder
    this.#holder = undefined
    this.#releaser = contender
    const granted = this.#nextGrant()
    const begun = performance.now()
    const released = grant.release()
    await granted
    const taken = performance.now() - begun
    await released
    return taken
  }

  /** The one who released queues again. */
  rejoin(): void {
    if (this.#releaser !== undefined) this.#queue(this.#releaser)
    this.#releaser = undefined
  }

  /**
   * All go, the waiters first, so that nobody is woken to take what nobody wants. Resolves when no trace is left of
   * them.
   */
  async disperse(): Promise<void> {
    for (const { leave } of this.#contenders) leave.abort()
    await Promise.all(this.#sessions.map(session => session.settled()))
    await this.#holder?.grant.release()
    this.#holder = undefined
  }

  #queue(contender: Contender): void {
    const { signal } = contender.leave
    contender.lock.acquire({ signal }).then(
      grant => this.#onGrant(contender, grant),
      (error: unknown) => {
        if (!signal.aborted) this.#onFailure(error)
      },
    )
  }

  #onGrant(contender: Contender, grant: Grant): void {
    if (this.#holder !== undefined) this.#onFailure(new Error('two contenders hold the lock at once'))
    this.#holder = { contender, grant }
    this.#granted()
  }

  #nextGrant(): Promise<void> {
    return new Promise(resolve => (this.#granted = resolve))
  }
}
