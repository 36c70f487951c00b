// A server that has no leader and serves reads only (ReadOnlyZooKeeperServer). Its sessions are its own, and no other
// server knows them.
import type { ClientRequest } from '../connection/client-request.ts'
import type { Handshake } from '../connection/handshake.ts'
import type { Role } from '../connection/role.ts'
import type { ServerCore } from '../connection/server-core.ts'
import { failed, type Outcome } from '../database/operations.ts'
import { Sessions, type ServerSession } from '../database/sessions.ts'

export class ReadOnly implements Role {
  readonly mode = 'read-only'
  readonly isImmediate = true
  readonly #core: ServerCore
  readonly #isGlobal: (session: bigint) => boolean
  readonly #sessions: Sessions

  /** @param isGlobal returns true for a session of the ensemble */
  constructor(core: ServerCore, isGlobal: (session: bigint) => boolean) {
    this.#core = core
    this.#isGlobal = isGlobal
    this.#sessions = new Sessions(core.settings, session => this.#end(session))
  }

  /** The client keeps a session of the ensemble, because only its leader can tell whether the session has ended. */
  refuses({ acceptsReadOnly, sessionId }: Handshake): boolean {
    return !acceptsReadOnly || this.#isGlobal(sessionId)
  }

  attach({ sessionId, passwd, timeOut }: Handshake, done: (session: ServerSession | undefined) => void): void {
    const sessions = this.#sessions
    done(sessionId === 0n ? sessions.open(timeOut, this.#core.id) : sessions.resume(sessionId, passwd, timeOut))
  }

  touch(session: ServerSession): void {
    this.#sessions.touch(session)
  }

  execute(request: ClientRequest, done: (outcome: Outcome) => void): void {
    const { kind, session } = request
    if (kind === 'close') this.#end(session)
    done(kind === 'read' || kind === 'close' ? request.executeOn(this.#core.database) : failed('NOTREADONLY'))
  }

  /** Ends all sessions. */
  close(): void {
    this.#sessions.close()
  }

  #end(session: ServerSession): void {
    this.#sessions.end(session)
    this.#core.onSessionEnded(session.id)
  }
}
