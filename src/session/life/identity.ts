// The id and password of a session, and the rules for accepting what servers report about it.
import { JuteError, type ConnectResponse, type TypeOf } from '../../protocol/index.ts'

export interface IdentitySettings {
  session: { id: bigint; password: Uint8Array } | undefined
  readOnly: boolean
}

const NO_PASSWORD = Buffer.alloc(16)

export class Identity {
  readonly #acceptsReadOnly: boolean
  /** The id; 0 until a server has created the session. */
  id = 0n
  /** A latin1 string, because a Buffer would make up half of the memory of an identity. */
  #password = ''
  /**
   * True for a session that the quorum issued, or that the caller supplied. False for one that a read-only server
   * invented, which no other server knows.
   */
  #isOfQuorum: boolean
  /** True if replies of the present server prove that the session is alive. */
  renewsLease = true

  constructor({ session, readOnly }: IdentitySettings) {
    this.#acceptsReadOnly = readOnly
    this.#isOfQuorum = session !== undefined
    if (session === undefined) return
    this.id = session.id
    this.#password = Buffer.from(session.password).toString('latin1')
  }

  get password(): Buffer {
    return Buffer.from(this.#password, 'latin1')
  }

  /**
   * The id and password of the next connect request. A session that a read-only server created is not offered to other
   * servers (Java does the same: seenRwServerBefore).
   */
  get inConnectRequest(): { sessionId: bigint; passwd: Buffer } {
    return this.#isOfQuorum ? { sessionId: this.id, passwd: this.password } : { sessionId: 0n, passwd: NO_PASSWORD }
  }

  /**
   * Adopts the identity in the response of a server. Returns false if the response means that the session is gone.
   * @param isPresumedLost true if no server has confirmed the session for its whole timeout
   * @throws JuteError if the response is one that this server must not give
   */
  accept({ timeOut, sessionId, passwd, readOnly }: TypeOf<typeof ConnectResponse>, isPresumedLost: boolean): boolean {
    if (readOnly && !this.#acceptsReadOnly) throw new JuteError('a read-only session, which was not requested')
    // If a server returns another session than the requested one, ours is lost, even if the timeout is positive
    // (ClickHouse Keeper does so).
    const isGone = timeOut <= 0 || (this.#isOfQuorum && this.id !== sessionId)
    // A read-only server with local sessions reports every session that it does not know as gone
    // (LearnerSessionTracker.touchSession).
    if (isGone && readOnly && !isPresumedLost)
      throw new JuteError('an expiry of the session, which only a server with a quorum can decide')
    if (isGone) return false
    // A read-only server does not pass on signs of life, so the quorum may expire the session meanwhile.
    this.renewsLease = !(readOnly && this.#isOfQuorum)
    this.#isOfQuorum ||= !readOnly
    this.id = sessionId
    this.#password = (passwd as Buffer).toString('latin1')
    return true
  }
}
