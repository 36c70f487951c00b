// A request of the client of a connection. The role of the server executes it, or has it executed by the leader.
import { Reader } from '../../protocol/index.ts'
import type { Database, TxnResult } from '../database/database.ts'
import { outcomeOf, runHandler, type Handler, type Outcome, type RequestPacket } from '../database/operations.ts'
import type { ServerSession } from '../database/sessions.ts'
import type { ServerConnection } from './connection.ts'

const NO_BYTES = Buffer.alloc(0)

export class ClientRequest {
  readonly session: ServerSession
  readonly #connection: ServerConnection
  readonly #handler: Handler
  readonly #cxid: number
  readonly #reader: Reader
  readonly #body: Buffer | undefined

  /**
   * @param reader stands after the header of the request
   * @param body the bytes after the header, if the request may be executed later
   */
  constructor(
    connection: ServerConnection,
    handler: Handler,
    session: ServerSession,
    cxid: number,
    reader: Reader,
    body: Buffer | undefined,
  ) {
    this.session = session
    this.#body = body
    this.#connection = connection
    this.#handler = handler
    this.#cxid = cxid
    this.#reader = reader
  }

  get kind(): Handler['kind'] {
    return this.#handler.kind
  }

  /** Executes the request on this copy of the data: that of its server, or of a single leader. */
  executeOn(database: Database): Outcome {
    return runHandler(this.#handler, this.#connection.contextOf(this.session, database), this.#reader)
  }

  /** Returns what the leader needs to execute the request. */
  packet(): Omit<RequestPacket, 'isLocal'> {
    const { identities } = this.#connection.contextOf(this.session)
    const { opcode } = this.#handler.operation
    return { cxid: this.#cxid, opcode, body: this.#body ?? NO_BYTES, identities: [...identities] }
  }

  /** Returns the outcome of a write, after this server has made the changes of its transaction. */
  outcomeOf(results: readonly TxnResult[]): Outcome {
    const { settings } = this.#connection.contextOf(this.session)
    return outcomeOf(this.#handler, results, new Reader(this.#body), settings)
  }
}
