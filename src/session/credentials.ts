// Who the session says it is: auth packets, sent first on every connection.
import { badArguments, xids, ZooKeeperError, type ErrorCode } from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import type { Connection } from './connection.ts'

export interface Credential {
  scheme: string
  auth: Uint8Array | string
}

interface Entry {
  readonly scheme: string
  readonly auth: Uint8Array
  /** Of the caller who waits for the server's word; none of one that was given to connect(). */
  waiting?: { resolve: () => void; reject: (error: unknown) => void }
  wasSent?: true
}

export class Credentials {
  #entries: Entry[]
  /** Answers to auth packets carry no xid of their own, but come in the packets' order. */
  #unanswered: Entry[] = []

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(credentials: readonly Credential[]) {
    this.#entries = credentials.map(checked)
  }

  /**
   * Resolves when a server has accepted it; from now on it goes to every server, so a caller waits through reconnects, as long as the
   * session is surely ours.
   */
  add(credential: Credential, connection: Connection | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = { ...checked(credential), waiting: { resolve, reject } }
      this.#entries.push(entry)
      if (connection !== undefined) this.#send(entry, connection)
    })
  }

  /** A new connection knows nobody yet. */
  replay(connection: Connection): void {
    this.#unanswered = []
    for (const entry of this.#entries) this.#send(entry, connection)
  }

  accepted(): void {
    const entry = this.#unanswered.shift()
    entry?.waiting?.resolve()
    delete entry?.waiting
  }

  /** Nobody is to wait any longer: what was not accepted by now counts as not said, and goes to no server. */
  giveUp(code: ErrorCode): void {
    for (const { waiting, wasSent } of this.#entries)
      waiting?.reject(new ZooKeeperError(code, { op: 'auth', fate: wasSent ? 'unknown' : 'notSent' }))
    this.#entries = this.#entries.filter(({ waiting }) => waiting === undefined)
  }

  /** Nobody will answer any more. */
  end(code: ErrorCode): void {
    this.giveUp(code)
    this.#entries = []
  }

  #send(entry: Entry, connection: Connection): void {
    entry.wasSent = true
    this.#unanswered.push(entry)
    connection.sendSpecial(xids.auth, operations.auth, { type: 0, scheme: entry.scheme, auth: entry.auth })
  }
}

/** What is wrong is said without the value: it is a secret. */
function checked({ scheme, auth }: Credential): Entry {
  if (typeof scheme !== 'string' || (typeof auth !== 'string' && !(auth instanceof Uint8Array)))
    throw bad('a scheme is a string, and auth is a string or a Uint8Array')
  // Half a surrogate pair would be sent as U+FFFD: another identity.
  if (!scheme.isWellFormed() || (typeof auth === 'string' && !auth.isWellFormed())) throw bad('half a surrogate pair')
  return { scheme, auth: Buffer.from(auth as string) }
}

const bad = (detail: string) => badArguments('auth', '', detail)
