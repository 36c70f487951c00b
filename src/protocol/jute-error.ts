import { brand } from './brand.ts'

/**
 * Thrown if bytes or values violate the Jute format. A client's calls never reject with it: unreadable bytes close the
 * connection.
 * @example records.SyncRequest.decode(Buffer.from('00ff', 'hex')) // throws JuteError
 */
export class JuteError extends Error {
  static {
    brand(this, 'JuteError')
  }
  /** The name of this class, for logs. A program should ask `instanceof`. */
  override readonly name = 'JuteError'
}
