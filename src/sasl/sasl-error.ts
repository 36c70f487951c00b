// What a mechanism throws. A session that ends by it rejects with AUTHFAILED, and has this as a cause.

/** The server's side of an exchange is not what the mechanism demands. */
export class SaslError extends Error {
  override readonly name = 'SaslError'
}
