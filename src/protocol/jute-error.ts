/**
 * Thrown if bytes or values violate the Jute format. A client's calls never reject with it: unreadable bytes close the
 * connection.
 */
export class JuteError extends Error {
  override readonly name = 'JuteError'
}
