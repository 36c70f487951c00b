// The requests that are queued: while there is no connection, or while it takes none yet.
import { encodeRequest, Writer } from '../../protocol/index.ts'
import type { Request } from './request.ts'

const writer = new Writer()

/**
 * Encodes a request before it is sent, unless it is encoded already.
 * @throws as {@link encodeRequest}
 */
export function encodeAhead(request: Request, maxRequestBytes: number): void {
  if (request.frame !== undefined) return
  encodeRequest(writer, 0, request.op, request.body, maxRequestBytes)
  request.frame = writer.take()
}

/** A queue, from which any request can also be removed. */
export class Backlog {
  #requests = new Set<Request>()
  /** Where the last {@link drain} has stopped. A new iterator would pass over all that were removed since V8 last compacted. */
  #rest = this.#requests.values()
  #first: Request | undefined

  get isEmpty(): boolean {
    return this.#requests.size === 0
  }

  /**
   * Encodes the request at once, so that the caller may reuse its bytes, and appends it.
   * @throws as {@link encodeRequest}
   */
  push(request: Request, maxRequestBytes: number): void {
    encodeAhead(request, maxRequestBytes)
    this.#requests.add(request)
  }

  /** Inserts requests before all others. */
  unshift(requests: readonly Request[]): void {
    for (const request of requests) encodeAhead(request, Infinity)
    this.#requests = new Set([...requests, ...this.#requests])
    this.#rest = this.#requests.values()
    this.#first = undefined
  }

  /** Removes a request. Returns false if it is not queued. */
  remove(request: Request): boolean {
    return this.#requests.delete(request)
  }

  /** Removes and yields requests in their order, up to the first that may not be sent yet. Default: all. */
  *drain(mayBeSent: (request: Request) => boolean = () => true): Generator<Request> {
    for (;;) {
      const first = this.#peek()
      if (first === undefined || !mayBeSent(first)) return
      this.#requests.delete(first)
      yield first
    }
  }

  #peek(): Request | undefined {
    if (this.isEmpty) return undefined
    if (this.#first !== undefined && this.#requests.has(this.#first)) return this.#first
    let next = this.#rest.next()
    // An iterator that has come to the end does not see what is appended later.
    if (next.done === true) next = (this.#rest = this.#requests.values()).next()
    return (this.#first = next.value)
  }
}
