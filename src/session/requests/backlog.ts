// Requests that wait for a connection.
import { encodeRequest, Writer } from '../../protocol/index.ts'
import type { Request } from './request.ts'

const writer = new Writer()

/** First in, first out; and any one can leave. */
export class Backlog {
  readonly #requests = new Set<Request>()

  /** Encodes it at once: what the caller does to its bytes later does not matter. Throws as {@link encodeRequest}. */
  push(request: Request, maxRequestBytes: number): void {
    encodeRequest(writer, 0, request.call.op, request.call.body, maxRequestBytes)
    request.frame = writer.take()
    this.#requests.add(request)
  }

  /** Takes one out; false where it does not wait (any more). */
  remove(request: Request): boolean {
    return this.#requests.delete(request)
  }

  /** Takes all out, in their order. */
  *drain(): Generator<Request> {
    for (const request of this.#requests) {
      this.#requests.delete(request)
      yield request
    }
  }
}
