import type { ServerErrorCode } from '../../protocol/index.ts'

/** Thrown to reject a request: the server replies with this code, and the request changes nothing. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: ServerErrorCode

  constructor(code: ServerErrorCode) {
    super(code)
    this.code = code
  }
}
