// The watches of each view of a client.

/** Watches by the view that set them, so that closing a view costs as much as it has watches, not as the session has. */
export class WatchesByView<T extends { readonly owner: object | undefined }> {
  #byOwner: WeakMap<object, Set<T>> | undefined

  /** A watch without a view ends with the session and is not kept here. */
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

  /** In the order in which they were added. */
  of(owner: object): T[] {
    return [...(this.#byOwner?.get(owner) ?? [])]
  }
}
