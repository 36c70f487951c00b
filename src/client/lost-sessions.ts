// Closes sessions that were presumed lost, if the servers still have them.
import { onAbort } from '../runtime/abort.ts'
import { LONGEST_TIMER } from '../runtime/clock.ts'
import type { Client } from './client.ts'
import type { CommonOptions } from './options.ts'

/** How a session is resumed to close it. */
export type ResumeOptions = Required<Pick<CommonOptions, 'session' | 'connectTimeout' | 'readOnly' | 'signal'>>

/**
 * The sessions of one process that were presumed lost. A restarted server gives each saved session its whole timeout
 * again, so such a session may still exist. Its nodes would then block the next session of the same process.
 */
export class LostSessions {
  readonly #resume: (options: ResumeOptions) => Promise<Client>
  readonly #sessions = new Set<Omit<ResumeOptions, 'signal'>>()

  /** @param resume opens a session that exists already */
  constructor(resume: (options: ResumeOptions) => Promise<Client>) {
    this.#resume = resume
  }

  /** @param client a client that was closed, maybe without an answer from a server */
  add({ state, sessionId, sessionPassword, sessionTimeout }: Client): void {
    if (state === 'expired') return
    const session = { id: sessionId, password: sessionPassword }
    // Twice the session timeout: if no server can be reached, the next session is then lost first, and its signal
    // aborts.
    const connectTimeout = Math.min(2 * sessionTimeout, LONGEST_TIMER)
    // A read-only server can close no session.
    this.#sessions.add({ session, connectTimeout, readOnly: false })
  }

  /**
   * Resolves when all these sessions have ended at the servers. Resolves earlier if the signal aborts, and the next
   * call then closes the rest. Never rejects.
   * @param signal aborts when the next session ends
   */
  async closeAll(signal: AbortSignal): Promise<void> {
    const close = async (lost: Omit<ResumeOptions, 'signal'>) => {
      // Unless the signal has aborted, a failure means that the session has expired.
      const client = await this.#resume({ ...lost, signal }).catch(() => undefined)
      const stopListening = onAbort(signal, () => void client?.close({ timeout: 1 }))
      await client?.close({ timeout: signal.aborted ? 1 : lost.connectTimeout })
      stopListening()
      if (!signal.aborted) this.#sessions.delete(lost)
    }
    await Promise.all(Array.from(this.#sessions, close))
  }
}
