// Who the session says it is: auth packets, sent first on every connection.
import {
  badArguments,
  xids,
  ZooKeeperError,
  type Encodable,
  type ErrorCode,
  type Operation,
} from '../../protocol/index.ts'
import * as operations from '../../protocol/operations.ts'

/** A connection, as far as it sends requests under a reserved xid, whose replies carry that xid: auth, setWatches. */
export interface ReservedSender {
  sendReserved<Q>(xid: number, op: Operation<Q, unknown>, body: Encodable<Q>): void
}

export interface Credential {
  scheme: string
  auth: Uint8Array | string
}

interface PendingCredential {
  readonly scheme: string
  readonly auth: Uint8Array
  /** Of the caller who waits for the server's word; none of one that was given to connect(). */
  caller?: { resolve: () => void; reject: (error: unknown) => void }
  wasSent?: true
}

export class Credentials {
  #entries: PendingCredential[]
  /** Answers to auth packets carry no xid of their own, but come in the packets' order. */
  #unanswered: PendingCredential[] = []

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(credentials: readonly Credential[]) {
    this.#entries = credentials.map(checked)
  }

  /**
   * Resolves when a server has accepted it; from now on it goes to every server, so a caller waits through reconnects, as long as the
   * session is surely ours.
   */
  add(credential: Credential, connection: ReservedSender | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: PendingCredential = { ...checked(credential), caller: { resolve, reject } }
      this.#entries.push(entry)
      if (connection !== undefined) this.#send(entry, connection)
    })
  }

  /** A new connection knows nobody yet. */
  resend(connection: ReservedSender): void {
    this.#unanswered = []
    for (const entry of this.#entries) this.#send(entry, connection)
  }

  accepted(): void {
    const entry = this.#unanswered.shift()
    entry?.caller?.resolve()
    delete entry?.caller
  }

  /** Nobody is to wait any longer: what was not accepted by now counts as not said, and goes to no server. */
  rejectPending(code: ErrorCode): void {
    for (const { caller, wasSent } of this.#entries)
      caller?.reject(new ZooKeeperError(code, { op: 'auth', fate: wasSent ? 'unknown' : 'notSent' }))
    this.#entries = this.#entries.filter(({ caller }) => caller === undefined)
  }

  /** Nobody will answer any more. */
  end(code: ErrorCode): void {
    this.rejectPending(code)
    this.#entries = []
  }

  #send(entry: PendingCredential, connection: ReservedSender): void {
    entry.wasSent = true
    this.#unanswered.push(entry)
    connection.sendReserved(xids.auth, operations.auth, { type: 0, scheme: entry.scheme, auth: entry.auth })
  }
}

/** What is wrong is said without the value: it is a secret. */
function checked({ scheme, auth }: Credential): PendingCredential {
  if (typeof scheme !== 'string' || (typeof auth !== 'string' && !(auth instanceof Uint8Array)))
    throw bad('a scheme is a string, and auth is a string or a Uint8Array')
  // Half a surrogate pair would be sent as U+FFFD: another identity.
  if (!scheme.isWellFormed() || (typeof auth === 'string' && !auth.isWellFormed())) throw bad('half a surrogate pair')
  return { scheme, auth: Buffer.from(auth as string) }
}

const bad = (detail: string) => badArguments('auth', '', detail)
