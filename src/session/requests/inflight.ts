// The requests that a connection has sent, in the order of their answers.
import type { Request } from './request.ts'

const FIRST_ROOM = 4
/** Room beyond this is given back when all are answered. */
const ROOM_KEPT = 1024

/**
 * First in, first out, in a ring. Were each linked to the next, V8 would take a whole chain for alive while its oldest, dead one
 * waits to be collected, and would have to follow it one by one.
 */
export class Inflight {
  #ring: (Request | undefined)[] = []
  #head = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  get peek(): Request | undefined {
    return this.#ring[this.#head]
  }

  push(request: Request): void {
    if (this.#size === this.#ring.length) this.#grow()
    this.#ring[(this.#head + this.#size++) % this.#ring.length] = request
  }

  shift(): Request | undefined {
    const first = this.#ring[this.#head]
    if (first === undefined) return undefined
    this.#ring[this.#head] = undefined
    this.#head = (this.#head + 1) % this.#ring.length
    if (--this.#size === 0 && this.#ring.length > ROOM_KEPT) {
      this.#ring = []
      this.#head = 0
    }
    return first
  }

  #grow(): void {
    const { length } = this.#ring
    const inOrder = [...this.#ring.slice(this.#head), ...this.#ring.slice(0, this.#head)]
    this.#ring = inOrder.concat(new Array<undefined>(Math.max(FIRST_ROOM, length)).fill(undefined))
    this.#head = 0
  }
}
