/** The number of dead keys tolerated before a sweep, however small the map. */
const TOLERATED_DEAD_KEYS = 8

// V8 keeps a deleted Map key in its hash chain until the next rehash, which large maps rarely do. A path watched again
// and again would leave hundreds of dead entries in one chain and slow every lookup. So delete() only clears the value;
// dead keys are swept once they exceed an eighth of the map.

/** A map from paths to values, made for paths that are set and deleted again and again. */
export class SweepingMap<V extends object | string> {
  readonly #byPath: Map<string, V | undefined>
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
    const keys = this.#byPath.size
    if (keys - this.#size > TOLERATED_DEAD_KEYS + keys / 8) this.#sweep()
  }

  *[Symbol.iterator](): Generator<[string, V], undefined> {
    for (const [path, value] of this.#byPath) if (value !== undefined) yield [path, value]
  }

  #sweep(): void {
    for (const [path, value] of this.#byPath) if (value === undefined) this.#byPath.delete(path)
  }
}
