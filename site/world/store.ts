// The store outside ZooKeeper that a lock protects. It knows nothing of locks, but compares tokens if a writer sends one.
import type { StorePicture, StoreWrite } from './picture.ts'

export class Store {
  #greatest: bigint | undefined
  readonly #writes: StoreWrite[] = []

  /**
   * Takes a write, or the registration of a token. Refuses a token lower than the greatest that it has seen. Accepts a write without a token.
   * @param isLate true if the client does not hold the lock any more
   * @returns true if the write was accepted
   */
  write(kind: StoreWrite['kind'], at: number, client: number, token: bigint | undefined, isLate: boolean): boolean {
    const isAccepted = token === undefined || this.#greatest === undefined || token >= this.#greatest
    if (isAccepted && token !== undefined) this.#greatest = token
    this.#writes.push({ kind, at, client, token: token?.toString(), isAccepted, isLate })
    return isAccepted
  }

  get picture(): StorePicture {
    return { token: this.#greatest?.toString(), writes: [...this.#writes] }
  }
}
