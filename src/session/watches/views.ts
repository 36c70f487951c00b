// Who set what, of the views of a client.

/** What each view has set: closing one is to cost what it has, and not what the whole session has. */
export class WatchesByView<T extends { readonly owner: object | undefined }> {
  #byOwner: WeakMap<object, Set<T>> | undefined

  /** What no view has set ends with the session, and is not kept here. */
  add(item: T): void {
    if (item.owner === undefined) return
    this.#byOwner ??= new WeakMap()
    const items = this.#byOwner.get(item.owner)
    if (items === undefined) this.#byOwner.set(item.owner, new Set([item]))
    else items.add(item)
  }

  delete(item: T): void {
    if (item.owner !== undefined) this.#byOwner?.get(item.owner)?.delete(item)
  }

  /** In the order in which they came. */
  of(owner: object): T[] {
    return [...(this.#byOwner?.get(owner) ?? [])]
  }
}
