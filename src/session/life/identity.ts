// The id and password of a session, and which servers are believed about it.
import { JuteError, type ConnectResponse, type TypeOf } from '../../protocol/index.ts'

export interface IdentitySettings {
  session: { id: bigint; password: Uint8Array } | undefined
  readOnly: boolean
}

const NO_PASSWORD = Buffer.alloc(16)

export class Identity {
  readonly #acceptsReadOnly: boolean
  /** 0 until a server has given the session. */
  id = 0n
  /** Kept as latin1, because a Buffer would be half of the memory that an identity takes. */
  #password = ''
  /**
   * True for a session that the quorum issued, or that the caller supplied. False for one that a read-only server
   * invented, which no other server knows.
   */
  #isOfQuorum: boolean
  /** True if a reply of the present server proves that the session is alive. */
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

  /** For a handshake. No other server is shown a session of a read-only server (Java does the same: seenRwServerBefore). */
  get credentials(): { sessionId: bigint; passwd: Buffer } {
    return this.#isOfQuorum ? { sessionId: this.id, passwd: this.password } : { sessionId: 0n, passwd: NO_PASSWORD }
  }

  /**
   * Takes over the identity that a server gives. Returns false if the server says that the session is gone.
   * @param isPresumedLost no server has confirmed the session for its whole timeout
   * @throws JuteError if the server may not say what it says
   */
  accept({ timeOut, sessionId, passwd, readOnly }: TypeOf<typeof ConnectResponse>, isPresumedLost: boolean): boolean {
    if (readOnly && !this.#acceptsReadOnly) throw new JuteError('a read-only session, which was not asked for')
    // A server that gives another session than was asked for has lost ours, whatever else it says (ClickHouse Keeper does so).
    const isGone = timeOut <= 0 || (this.#isOfQuorum && this.id !== sessionId)
    // A server without a quorum reports every session that it does not know as gone (LearnerSessionTracker.touchSession).
    if (isGone && readOnly && !isPresumedLost) throw new JuteError('word of a session that only the quorum can give')
    if (isGone) return false
    // Touching a session at a read-only server does not reach the quorum, which may expire it meanwhile.
    this.renewsLease = !(readOnly && this.#isOfQuorum)
    this.#isOfQuorum ||= !readOnly
    this.id = sessionId
    this.#password = (passwd as Buffer).toString('latin1')
    return true
  }
}
