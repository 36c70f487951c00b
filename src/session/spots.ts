// What is known of paths.

export interface Spot {
  /** Nothing is known of the path any more. */
  readonly isIdle: boolean
  /** It was idle once, and is looked at again before long. */
  isLeft?: boolean
}

/**
 * By path. V8 leaves a key that is deleted from a Map in its chain until the whole Map is laid out anew, which a large one seldom is: a
 * path that is watched again and again, beside a hundred thousand others, would stand in its chain hundreds of times. So what is idle
 * stays to be used again, and goes when it is more than an eighth of all.
 */
export class Spots<S extends Spot> {
  readonly #byPath = new Map<string, S>()
  readonly #make: () => S
  #left: string[] = []

  constructor(make: () => S) {
    this.#make = make
  }

  get(path: string): S | undefined {
    return this.#byPath.get(path)
  }

  /** Makes one where nothing is known yet. */
  at(path: string): S {
    const known = this.#byPath.get(path)
    if (known !== undefined) return known
    const spot = this.#make()
    this.#byPath.set(path, spot)
    return spot
  }

  entries(): IterableIterator<[string, S]> {
    return this.#byPath.entries()
  }

  values(): IterableIterator<S> {
    return this.#byPath.values()
  }

  /** To be called when less is known of a path than before. */
  tidy(path: string, spot: S): void {
    if (spot.isLeft === true || !spot.isIdle) return
    spot.isLeft = true
    if (this.#left.push(path) > FEW + this.#byPath.size / 8) this.#sweep()
  }

  #sweep(): void {
    for (const path of this.#left) {
      const spot = this.#byPath.get(path)
      if (spot?.isIdle === false) spot.isLeft = false
      else this.#byPath.delete(path)
    }
    this.#left = []
  }
}

const FEW = 8
