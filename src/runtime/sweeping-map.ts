// A map for paths that come and go.

/** Entries that are gone and kept nevertheless, however few there are. */
const FEW = 8

/**
 * By path. V8 leaves a key that is deleted from a Map in its chain until the whole Map is laid out anew, which a large one seldom is: a
 * path that is watched again and again, beside a hundred thousand others, would stand in its chain hundreds of times, and be looked for in
 * all of that. So what is deleted only loses its value, and goes when there is an eighth as much of it as of all.
 */
export class SweepingMap<V extends object | string> {
  readonly #byPath: Map<string, V | undefined>
  /** Have been deleted, and may be in use again. */
  #left = new Set<string>()
  #size = 0

  constructor(byPath = new Map<string, V | undefined>()) {
    this.#byPath = byPath
  }

  get size(): number {
    return this.#size
  }

  get(path: string): V | undefined {
    return this.#byPath.get(path)
  }

  set(path: string, value: V): void {
    if (this.#byPath.get(path) === undefined) this.#size++
    this.#byPath.set(path, value)
  }

  delete(path: string): void {
    if (this.#byPath.get(path) === undefined) return
    this.#byPath.set(path, undefined)
    this.#size--
    if (this.#left.add(path).size > FEW + this.#byPath.size / 8) this.#sweep()
  }

  *[Symbol.iterator](): Generator<[string, V], undefined> {
    for (const [path, value] of this.#byPath) if (value !== undefined) yield [path, value]
  }

  #sweep(): void {
    for (const path of this.#left) if (this.#byPath.get(path) === undefined) this.#byPath.delete(path)
    this.#left = new Set()
  }
}
