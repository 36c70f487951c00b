/** Thrown if the server violates the mechanism. The session ends: its calls reject with AUTHFAILED, with this error as `cause`. */
export class SaslError extends Error {
  override readonly name = 'SaslError'
}
