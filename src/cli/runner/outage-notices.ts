// Says that there is no connection. Without it, a command prints nothing while no server accepts its session: half a
// minute at its start if the servers have no quorum, and any time later.
import type { ConnectOptions } from '../../client/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import { messageOf } from './failure.ts'

/** How long a command is without a connection before it says so, in milliseconds. */
const PATIENCE = 3000

/** Called with a sentence for the user. */
export type Say = (text: string) => void

export class OutageNotices {
  readonly #say: Say
  readonly #clock: Clock
  readonly #advice: string
  #timer: unknown
  #last: unknown
  /** True if the user knows of the present outage, which may have several clients one after the other. */
  #hasTold = false

  /** @param command the command that the user waits for */
  constructor(say: Say, clock: Clock, command = '') {
    this.#say = say
    this.#clock = clock
    this.#advice = command === 'doctor' ? '' : ' (zkwire doctor tells why)'
  }

  /** Returns the options of connect() or supervise(), and those by which this learns of outages. */
  addTo(options: ConnectOptions): ConnectOptions {
    return {
      ...options,
      onOutage: ({ phase, error }) => (phase === 'began' ? this.#begin(error) : this.#end()),
      onConnectionError: error => void (this.#last = error),
    }
  }

  #begin(error: unknown): void {
    this.#last = error
    if (!this.#hasTold) this.#timer ??= this.#clock.setTimeout(() => this.#tell(), PATIENCE)
  }

  #end(): void {
    this.stop()
    this.#hasTold = false
  }

  /** Must be called when nothing tries to connect any more. */
  stop(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #tell(): void {
    this.#timer = undefined
    this.#hasTold = true
    this.#say(`no connection for ${PATIENCE / 1000} s, still trying${this.#advice}: ${messageOf(this.#last) ?? ''}`)
  }
}
