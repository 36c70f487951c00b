// The requests that are queued while there is no connection.
import { encodeRequest, Writer } from '../../protocol/index.ts'
import type { Request } from './request.ts'

const writer = new Writer()

/** A queue, from which any request can also be removed. */
export class Backlog {
  readonly #requests = new Set<Request>()

  /**
   * Encodes the request at once, so that the caller may reuse its bytes, and appends it.
   * @throws as {@link encodeRequest}
   */
  push(request: Request, maxRequestBytes: number): void {
    encodeRequest(writer, 0, request.call.op, request.call.body, maxRequestBytes)
    request.frame = writer.take()
    this.#requests.add(request)
  }

  /** Removes a request. Returns false if it is not queued. */
  remove(request: Request): boolean {
    return this.#requests.delete(request)
  }

  /** Removes and yields all requests, in their order. */
  *drain(): Generator<Request> {
    for (const request of this.#requests) {
      this.#requests.delete(request)
      yield request
    }
  }
}
