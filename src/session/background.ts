// Work that continues after the call that started it has returned.

/** Keeps the promises of running work, so that a caller can wait for all of it. */
export class Background {
  /** The running work, each with the path at the server that it concerns, if the caller has named one. */
  #running: Map<Promise<unknown>, string | undefined> | undefined

  /** Registers running work. Its rejections are ignored: it must handle its own failures. */
  run(work: Promise<unknown>, path?: string): void {
    const running = (this.#running ??= new Map())
    const watched = work.then(ignore, ignore)
    running.set(watched, path)
    void watched.then(() => running.delete(watched))
  }

  /** Resolves when no work is running, including work that is started meanwhile. */
  async settled(): Promise<void> {
    while (this.#running !== undefined && this.#running.size > 0) await Promise.all(this.#running.keys())
  }

  /** Resolves when the work that concerns the path, and runs now, has ended. Returns undefined if there is none. */
  settledAt(path: string): Promise<unknown> | undefined {
    const works = [...(this.#running ?? [])].flatMap(([work, at]) => (at === path ? work : []))
    return works.length === 0 ? undefined : Promise.all(works)
  }
}

const ignore = () => {}
