// The watches of each view of a client.

/**
 * Finds the watches of a view. Closing a view therefore takes time in proportion to its own watches, not to all watches
 * of the session.
 */
export class WatchesByView<T extends { readonly view: object | undefined }> {
  #byView: WeakMap<object, Set<T>> | undefined

  /** Adds a watch. A watch without a view is not kept here, because it ends with the session. */
  add(watch: T): void {
    if (watch.view === undefined) return
    this.#byView ??= new WeakMap()
    const watches = this.#byView.get(watch.view)
    if (watches === undefined) this.#byView.set(watch.view, new Set([watch]))
    else watches.add(watch)
  }

  delete(watch: T): void {
    if (watch.view !== undefined) this.#byView?.get(watch.view)?.delete(watch)
  }

  /** Returns the watches of a view, in the order in which they were added. */
  of(view: object): T[] {
    return [...(this.#byView?.get(view) ?? [])]
  }
}
