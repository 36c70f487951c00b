// Reports when a client is without a connection, and for how long: two calls, however many attempts fail in between.
import type { Clock } from '../runtime/clock.ts'
import type { ZooKeeperError } from '../protocol/index.ts'

/**
 * A time without a connection, as the option `onOutage` of connect() and supervise() gets it.
 * @example
 * const outages: Outage[] = []
 * const found = await connect('localhost:2181', { onOutage: outage => outages.push(outage) })
 * server.dropConnections()
 * while (outages.length < 2) await new Promise(resolve => found.on('state', resolve))
 * outages.map(({ phase }) => phase) // => ['began', 'ended']
 * await found.close()
 */
export interface Outage {
  /** `began` when the connection was lost or the first attempt has failed, `ended` when a server has accepted a session. */
  phase: 'began' | 'ended'
  /** Milliseconds since the outage began, a whole number; 0 when it begins. */
  ms: number
  /** How many lost connections and failed attempts the outage has had, the first one included. */
  failures: number
  /** The first failure when the outage begins, the last one when it ends. The message names the host and its answer. */
  error: ZooKeeperError
}

/** The outages of one client, or of all sessions of one supervise(). Its methods return what `onOutage` must get. */
export class Outages {
  readonly onOutage: (outage: Outage) => unknown
  readonly #clock: Clock
  #current: { readonly since: number; failures: number; error: ZooKeeperError } | undefined

  private constructor(clock: Clock, onOutage: (outage: Outage) => unknown) {
    this.#clock = clock
    this.onOutage = onOutage
  }

  /** Returns undefined if the caller has no `onOutage`. */
  static of({ onOutage }: { onOutage?: ((outage: Outage) => void) | undefined }, clock: Clock): Outages | undefined {
    return onOutage == null ? undefined : new Outages(clock, onOutage)
  }

  onError(error: ZooKeeperError): Outage | undefined {
    if (this.#current !== undefined) {
      this.#current.failures++
      this.#current.error = error
      return undefined
    }
    this.#current = { since: this.#clock.now(), failures: 1, error }
    return { phase: 'began', ms: 0, failures: 1, error }
  }

  onConnected(): Outage | undefined {
    const outage = this.#current
    if (outage === undefined) return undefined
    this.#current = undefined
    const { since, failures, error } = outage
    return { phase: 'ended', ms: Math.round(this.#clock.now() - since), failures, error }
  }
}
