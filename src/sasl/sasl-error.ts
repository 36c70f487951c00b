/**
 * Thrown if an exchange cannot be completed as the mechanism requires. The session ends: its calls reject with
 * AUTHFAILED, and this error is in their chain of causes.
 */
export class SaslError extends Error {
  override readonly name = 'SaslError'
}
