// The role of a server in its ensemble. It decides who executes the requests of the server's clients.
import type { Outcome } from '../database/operations.ts'
import type { ServerSession } from '../database/sessions.ts'
import type { ClientRequest } from './client-request.ts'
import type { Handshake } from './handshake.ts'

/** The role of a server that serves clients. A server that looks for a leader has none. */
export interface Role {
  readonly mode: 'standalone' | 'leader' | 'follower' | 'observer' | 'read-only'
  /** What the four-letter word mntr reports besides, by name. */
  readonly metrics?: Readonly<Record<string, string | number>>
  /** True if `execute` runs a request before it returns, and never later. Its bytes then need no copy. */
  readonly isImmediate: boolean
  /** Returns true if the server closes the connection instead of a reply. */
  refuses(handshake: Handshake): boolean
  /**
   * Opens or continues a session.
   * @param done gets the session, or undefined if it has ended or the password is wrong. Is not called if the server
   * loses its role before.
   */
  attach(handshake: Handshake, done: (session: ServerSession | undefined) => void): void
  /** Postpones the expiry of the session, because a request has arrived. */
  touch(session: ServerSession): void
  /**
   * Executes a request.
   * @param done called when the tree of this server has the changes of the request. Gets 'moved' if the session has
   * been attached to another server. Is not called if the server loses its role before.
   */
  execute(request: ClientRequest, done: (outcome: Outcome | 'moved') => void): void
}
