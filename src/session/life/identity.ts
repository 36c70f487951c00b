// Who a session is to the servers, and which of them may say so.
import { JuteError, type ConnectResponse, type TypeOf } from '../../protocol/index.ts'

export interface IdentitySettings {
  session: { id: bigint; password: Uint8Array } | undefined
  readOnly: boolean
}

const NO_PASSWORD = Buffer.alloc(16)

export class Identity {
  readonly #acceptsReadOnly: boolean
  /** 0 before a server gave one. */
  id = 0n
  /** As latin1: in bytes of its own it would be half of a session's identity in memory. */
  #password = ''
  /** Of the quorum, as any is that the caller brings. Else a read-only server made it up, and it means nothing elsewhere. */
  #isOfQuorum: boolean
  /** Does an answer of the present server say that the session lives on? */
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

  /** What is sent in a handshake: a session of a read-only server is not shown to any other (as by Java: seenRwServerBefore). */
  get credentials(): { sessionId: bigint; passwd: Buffer } {
    return this.#isOfQuorum ? { sessionId: this.id, passwd: this.password } : { sessionId: 0n, passwd: NO_PASSWORD }
  }

  /**
   * Takes the identity that a server gives. Returns false where it says that ours is gone.
   * @param isPresumedLost nobody has confirmed the session for its whole timeout
   * @throws JuteError of an answer that is not this server's to give
   */
  accept({ timeOut, sessionId, passwd, readOnly }: TypeOf<typeof ConnectResponse>, isPresumedLost: boolean): boolean {
    if (readOnly && !this.#acceptsReadOnly) throw new JuteError('a read-only session, which was not asked for')
    // A server that gives another session than was asked for has lost ours, whatever it says (ClickHouse Keeper does so).
    const isGone = timeOut <= 0 || (this.#isOfQuorum && this.id !== sessionId)
    // Without the quorum a server knows the sessions it has heard of, and calls the others gone (LearnerSessionTracker.touchSession).
    if (isGone && readOnly && !isPresumedLost) throw new JuteError('word of a session that only the quorum can give')
    if (isGone) return false
    // Nor does what it hears of a session reach the quorum, which may expire it meanwhile.
    this.renewsLease = !(readOnly && this.#isOfQuorum)
    this.#isOfQuorum ||= !readOnly
    this.id = sessionId
    this.#password = (passwd as Buffer).toString('latin1')
    return true
  }
}
