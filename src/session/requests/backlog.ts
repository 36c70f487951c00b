// The requests that are queued until there is a connection.
import { encodeRequest, Writer } from '../../protocol/index.ts'
import type { Request } from './request.ts'

const writer = new Writer()

/** First in, first out; any request can be removed. */
export class Backlog {
  readonly #requests = new Set<Request>()

  /** Encodes the request at once, so that the caller may reuse its bytes. Throws what {@link encodeRequest} throws. */
  push(request: Request, maxRequestBytes: number): void {
    encodeRequest(writer, 0, request.call.op, request.call.body, maxRequestBytes)
    request.frame = writer.take()
    this.#requests.add(request)
  }

  /** Returns false if the request is not queued. */
  remove(request: Request): boolean {
    return this.#requests.delete(request)
  }

  /** Removes all requests, in their order. */
  *drain(): Generator<Request> {
    for (const request of this.#requests) {
      this.#requests.delete(request)
      yield request
    }
  }
}
