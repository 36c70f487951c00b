import { brand } from '../protocol/brand.ts'

/**
 * The error of a mechanism whose exchange cannot be completed. It ends the session: the calls reject with AUTHFAILED,
 * and this error is in the chain of their `cause`.
 */
export class SaslError extends Error {
  static {
    brand(this, 'SaslError')
  }
  override readonly name = 'SaslError'
}
