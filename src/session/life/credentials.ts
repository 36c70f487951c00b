// The credentials of a session. They are auth packets. On every connection they are sent first, or first after SASL.
import {
  badArguments,
  xids,
  ZooKeeperError,
  type Encodable,
  type ErrorCode,
  type Operation,
} from '../../protocol/index.ts'
import * as operations from '../../protocol/operations.ts'
import { onAbort } from '../../runtime/abort.ts'

/**
 * The part of a connection that sends requests with a reserved xid (auth, setWatches). Their replies have the same xid.
 */
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
  /** The caller of addAuth(), until the server replies; undefined for credentials of connect(). */
  caller?: { resolve: () => void; reject: (error: unknown) => void }
  wasSent?: true
}

export class Credentials {
  #entries: PendingCredential[]
  /** Packets without a reply. All replies have the same xid, and arrive in the order of the packets. */
  #unanswered: PendingCredential[] = []

  /** @throws ZooKeeperError BADARGUMENTS if a credential is invalid */
  constructor(credentials: readonly Credential[]) {
    this.#entries = credentials.map(checked)
  }

  /**
   * Adds a credential, and resolves when a server has accepted it. It is sent on every later connection too, so the
   * caller waits through reconnects, until the session must be presumed lost.
   * @param signal rejects the call when it aborts, and makes later connections not send the credential
   * @throws ZooKeeperError BADARGUMENTS if the credential is invalid
   */
  add(credential: Credential, connection: ReservedSender | undefined, signal?: AbortSignal): Promise<void> {
    const entry = checked(credential)
    const added = new Promise<void>((resolve, reject) => (entry.caller = { resolve, reject }))
    this.#entries.push(entry)
    if (connection !== undefined) this.#send(entry, connection)
    const stopListening = onAbort(signal, () => {
      this.#entries = this.#entries.filter(each => each !== entry)
      entry.caller?.reject(signal?.reason)
    })
    return added.finally(stopListening)
  }

  /** Sends all credentials on a new connection, whose server knows none of them. */
  resend(connection: ReservedSender): void {
    this.#unanswered = []
    for (const entry of this.#entries) this.#send(entry, connection)
  }

  /** The server has accepted the oldest packet without a reply. */
  accepted(): void {
    const entry = this.#unanswered.shift()
    entry?.caller?.resolve()
    delete entry?.caller
  }

  /**
   * Rejects the waiting callers, and forgets their credentials, so that these are not sent again. Those of connect()
   * stay.
   */
  rejectPending(code: ErrorCode): void {
    for (const { caller, wasSent } of this.#entries)
      caller?.reject(new ZooKeeperError(code, { op: 'auth', fate: wasSent ? 'unknown' : 'notSent' }))
    this.#entries = this.#entries.filter(({ caller }) => caller === undefined)
  }

  /** The session has ended. Rejects the waiting callers and forgets all credentials. */
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

/** Checks a credential. The error does not show the value, which is secret. */
function checked({ scheme, auth }: Credential): PendingCredential {
  if (typeof scheme !== 'string' || (typeof auth !== 'string' && !(auth instanceof Uint8Array)))
    throw bad('a scheme must be a string, and auth a string or a Uint8Array')
  // Half a surrogate pair would be sent as U+FFFD: another identity.
  if (!scheme.isWellFormed() || (typeof auth === 'string' && !auth.isWellFormed()))
    throw bad('scheme and auth must not contain half a surrogate pair')
  return { scheme, auth: Buffer.from(auth as string) }
}

const bad = (detail: string) => badArguments('auth', '', detail)
