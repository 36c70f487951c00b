// How an operation says no.
import type { ServerErrorCode } from '../protocol/index.ts'

/** Thrown by whatever decides on a request: it is answered with this error, and leaves nothing done. */
export class RequestError extends Error {
  override readonly name = 'Refusal'
  readonly code: ServerErrorCode

  constructor(code: ServerErrorCode) {
    super(code)
    this.code = code
  }
}
