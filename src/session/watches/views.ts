// The watches of each view of a client.

/**
 * Finds the watches of a view. Closing a view therefore takes time in proportion to its own watches, not to all watches
 * of the session.
 */
export class WatchesByView<T extends { readonly owner: object | undefined }> {
  #byOwner: WeakMap<object, Set<T>> | undefined

  /** Adds a watch. A watch without a view is not kept here, because it ends with the session. */
  add(watch: T): void {
    if (watch.owner === undefined) return
    this.#byOwner ??= new WeakMap()
    const watches = this.#byOwner.get(watch.owner)
    if (watches === undefined) this.#byOwner.set(watch.owner, new Set([watch]))
    else watches.add(watch)
  }

  delete(watch: T): void {
    if (watch.owner !== undefined) this.#byOwner?.get(watch.owner)?.delete(watch)
  }

  /** Returns the watches of a view, in the order in which they were added. */
  of(owner: object): T[] {
    return [...(this.#byOwner?.get(owner) ?? [])]
  }
}
