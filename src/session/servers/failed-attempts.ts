// The failed attempts to connect: why each server was not used, and whether another attempt may succeed. Pure.
import { PermanentError } from '../../transport/transport.ts'

/**
 * When another attempt at the same server may succeed. `temporary`: at any time. `absent`: when a ZooKeeper server is
 * started there, because the address refused the connection, is unknown, or belongs to a server of another kind.
 * `permanent`: when a configuration has changed.
 */
export type Outlook = 'temporary' | 'absent' | 'permanent'

/** Why an attempt failed. */
export interface AttemptFailure {
  /** What happened, without the server's name. */
  readonly detail: string
  readonly outlook: Outlook
  /** Why no attempt can succeed. Default for `permanent`: PROTOCOL. */
  readonly code?: 'ACCESSDENIED'
  /** What the server has not answered in the time for the attempt: the connection, or the handshake. */
  readonly unanswered?: 'connection' | 'handshake' | undefined
  /** True if the server closed the connection while the client authenticated with SASL. */
  readonly isDuringSasl?: boolean
}

export const temporary = (detail: string): AttemptFailure => ({ detail, outlook: 'temporary' })

/** What a server did that accepted a connection and closed it at once, as one does that has reached maxClientCnxns. */
export const CLOSED_EARLY = 'the server closed the connection before the end of the handshake'

/** Describes a connection that could not be opened, if nothing is known of its error. */
export const failureToOpen = (cause: Error): AttemptFailure =>
  cause instanceof PermanentError
    ? { detail: cause.message, outlook: 'permanent' }
    : temporary(`the connection could not be opened (${cause.message})`)

/**
 * Describes an answer to the handshake that is not ZooKeeper's. Text comes from a server of another kind, such as HTTP.
 * @param problem what is wrong with the answer as a frame
 */
export function failureOfHandshake(chunk: Buffer, problem: string): AttemptFailure {
  const text = /^[ -~]{4,}/.exec(chunk.toString('latin1', 0, LONGEST_QUOTE))?.[0]
  if (text === undefined) return temporary(`the server sent ${problem}`)
  return { detail: `not a ZooKeeper server: it answered ${JSON.stringify(text)}`, outlook: 'absent' }
}

const LONGEST_QUOTE = 60

/** The last failure of each server. */
export class FailedAttempts {
  readonly #byServer = new Map<string, AttemptFailure & { count: number }>()

  add(server: string, { detail, outlook, unanswered }: AttemptFailure): void {
    const count = (this.#byServer.get(server)?.count ?? 0) + 1
    this.#byServer.set(server, { detail, outlook, unanswered, count })
  }

  /** Returns true if each of these servers was tried, none has answered, and a handshake may have arrived. */
  areSilent(servers: readonly string[]): boolean {
    const failures = servers.map(server => this.#byServer.get(server))
    return (
      failures.every(failure => failure?.unanswered !== undefined || failure?.outlook === 'absent') &&
      failures.some(failure => failure?.unanswered === 'handshake')
    )
  }

  /** Returns the best outlook of these servers: `temporary` if one of them was not tried, or may accept soon. */
  outlookOf(servers: readonly string[]): Outlook {
    const outlooks = servers.map(server => this.#byServer.get(server)?.outlook ?? 'temporary')
    if (outlooks.includes('temporary')) return 'temporary'
    return outlooks.includes('absent') ? 'absent' : 'permanent'
  }

  /**
   * Returns a text that names each server and what it answered.
   * @param servers names of all servers that are to be tried
   * @param current the name of the server that is being tried
   */
  describe(servers: readonly string[], current: string | undefined): string {
    const all = new Set([...this.#byServer.keys(), ...servers])
    return Array.from(all, server => `${server}: ${this.#describeOne(server, server === current)}`).join('; ')
  }

  #describeOne(server: string, isCurrent: boolean): string {
    const failure = this.#byServer.get(server)
    if (failure === undefined) return isCurrent ? 'no answer yet' : 'not tried yet'
    return failure.count === 1 ? failure.detail : `${failure.detail}, ${failure.count} attempts`
  }
}
