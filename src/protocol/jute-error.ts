// What reading and writing Jute throw.

/** The bytes are not what they should be. It closes a connection; it never reaches a user's call as itself. */
export class JuteError extends Error {
  override readonly name = 'JuteError'
}
