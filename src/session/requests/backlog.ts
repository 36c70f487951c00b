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
  }

  /** Removes a request. Returns false if it is not queued. */
  remove(request: Request): boolean {
    return this.#requests.delete(request)
  }

  /** Removes and yields requests in their order, up to the first that may not leave. Default: all. */
  *drain(mayLeave: (request: Request) => boolean = () => true): Generator<Request> {
    for (const request of this.#requests) {
      if (!mayLeave(request)) return
      this.#requests.delete(request)
      yield request
    }
  }
}
