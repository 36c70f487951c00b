import { brand } from '../protocol/brand.ts'
import { printable } from '../protocol/printable.ts'

/**
 * The error of a mechanism whose exchange cannot be completed. It ends the session: the calls reject with AUTHFAILED,
 * and this error is in the chain of their `cause`.
 * @example
 * const mechanism = digestMd5({ username: 'ann', password: 'secret' })
 * const exchange = mechanism.start({ host: 'zk1', port: 2181, random: Math.random })
 * await exchange.step(null)
 * await exchange.step(Buffer.from('no challenge')) // throws SaslError
 */
export class SaslError extends Error {
  static {
    brand(this, 'SaslError')
  }
  /** The name of this class, for logs. A program should ask `instanceof`. */
  override readonly name = 'SaslError'

  constructor(message?: string, options?: ErrorOptions) {
    super(message === undefined ? undefined : printable(message), options)
  }
}
