// Requests that wait for a connection.
import { Writer } from '../protocol/index.ts'
import { encodeRequest } from './connection.ts'
import { RequestList, type Request } from './request.ts'

const writer = new Writer()

export class Backlog {
  readonly #requests = new RequestList()

  /** Encodes it at once: what the caller does to its bytes later does not matter. Throws as {@link encodeRequest}. */
  push(request: Request, maxRequest: number): void {
    encodeRequest(writer, 0, request.call.op, request.call.body, maxRequest)
    request.frame = writer.take()
    this.#requests.push(request)
  }

  /** Takes one out; false where it does not wait (any more). */
  remove(request: Request): boolean {
    if (request.list !== this.#requests) return false
    this.#requests.remove(request)
    return true
  }

  /** Takes all out, in their order. */
  *drain(): Generator<Request> {
    for (let request = this.#requests.shift(); request !== undefined; request = this.#requests.shift()) yield request
  }
}
