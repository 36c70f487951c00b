// A binary heap: the least item is found at once, and added or removed in logarithmic time.

export class MinHeap<T> {
  readonly #items: T[] = []
  readonly #isBefore: (a: T, b: T) => boolean

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  /** Returns the least item, or undefined if there is none. */
  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    let at = items.length
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = items[above] as T
      if (!this.#isBefore(item, parent)) break
      items[at] = parent
      at = above
    }
    items[at] = item
  }

  /** Removes the least item, and returns it. */
  pop(): T | undefined {
    const items = this.#items
    const least = items[0]
    const item = items.pop()
    if (items.length === 0 || item === undefined) return least
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= items.length) break
      if (below + 1 < items.length && this.#isBefore(items[below + 1] as T, items[below] as T)) below++
      const child = items[below] as T
      if (!this.#isBefore(child, item)) break
      items[at] = child
      at = below
    }
    items[at] = item
    return least
  }

  clear(): void {
    this.#items.length = 0
  }
}
