// Work that continues after the call that started it has returned.

/** Keeps the promises of running work, so that a caller can wait for all of it. */
export class Background {
  #running: Set<Promise<unknown>> | undefined

  /** Registers running work. Its rejections are ignored: it must handle its own failures. */
  run(work: Promise<unknown>): void {
    const running = (this.#running ??= new Set())
    const watched = work.then(ignore, ignore)
    running.add(watched)
    void watched.then(() => running.delete(watched))
  }

  /** Resolves when no work is running, including work that is started meanwhile. */
  async settled(): Promise<void> {
    while (this.#running !== undefined && this.#running.size > 0) await Promise.all(this.#running)
  }
}

const ignore = () => {}
