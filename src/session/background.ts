// Work that goes on behind a call that has ended already.

/** Counts what is under way, so that a caller can wait for all of it. */
export class Background {
  #running: Set<Promise<unknown>> | undefined

  /** The work settles its own failures: what it rejects with is of no concern to anybody. */
  run(work: Promise<unknown>): void {
    const running = (this.#running ??= new Set())
    const watched = work.then(done, done)
    running.add(watched)
    void watched.then(() => running.delete(watched))
  }

  /** Resolves when nothing is under way, also of what was started meanwhile. */
  async settled(): Promise<void> {
    while (this.#running !== undefined && this.#running.size > 0) await Promise.all(this.#running)
  }
}

const done = () => {}
