// The requests in flight on one connection, in the order of their replies.
import type { Request } from './request.ts'

const FIRST_CAPACITY = 4
/** A ring that is larger than this is freed as soon as it is empty. */
const CAPACITY_KEPT = 1024

/**
 * A queue in a ring buffer. A linked list would be slower. V8 would keep the whole list alive until its oldest, dead
 * element is collected. It would also have to follow the links one by one.
 */
export class Inflight {
  #ring: (Request | undefined)[] = []
  #head = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  get oldest(): Request | undefined {
    return this.#ring[this.#head]
  }

  /** Returns the request with an xid. */
  find(xid: number): Request | undefined {
    return this.#ring.find(request => request?.xid === xid)
  }

  get hasWrite(): boolean {
    return this.#ring.some(request => request?.op.isWrite)
  }

  push(request: Request): void {
    if (this.#size === this.#ring.length) this.#grow()
    this.#ring[this.#wrapped(this.#head + this.#size++)] = request
  }

  shift(): Request | undefined {
    const first = this.#ring[this.#head]
    if (first === undefined) return undefined
    this.#ring[this.#head] = undefined
    this.#head = this.#wrapped(this.#head + 1)
    if (--this.#size === 0 && this.#ring.length > CAPACITY_KEPT) {
      this.#ring = []
      this.#head = 0
    }
    return first
  }

  /** The capacity is a power of two, because a division would take longer. */
  #wrapped(index: number): number {
    return index & (this.#ring.length - 1)
  }

  #grow(): void {
    const { length } = this.#ring
    const inOrder = [...this.#ring.slice(this.#head), ...this.#ring.slice(0, this.#head)]
    this.#ring = inOrder.concat(new Array<undefined>(Math.max(FIRST_CAPACITY, length)).fill(undefined))
    this.#head = 0
  }
}
