// Messages from one server of an ensemble to another. They arrive in order, can be delayed, and wait while the network
// between the servers is cut.
import type { Clock } from '../runtime/clock.ts'

/** The network between the two servers. */
export interface Route {
  /** How long a message takes, in milliseconds. */
  delay(): number
  isCut(): boolean
}

export class Channel {
  readonly #clock: Clock
  readonly #route: Route
  readonly #messages: { sentAt: number; deliver: () => void }[] = []
  #timer: unknown
  #isDelivering = false

  constructor(clock: Clock, route: Route) {
    this.#clock = clock
    this.#route = route
  }

  /** Delivers the message now if it has no delay and no message waits. */
  send(deliver: () => void): void {
    this.#messages.push({ sentAt: this.#clock.now(), deliver })
    this.flush()
  }

  /** Delivers the messages that are due. Must be called when the route has changed. */
  flush(): void {
    // A message that is sent by the delivery of another one must not overtake those that wait.
    if (this.#isDelivering) return
    this.#isDelivering = true
    this.#clock.clearTimeout(this.#timer)
    for (let next = this.#messages[0]; next !== undefined && !this.#route.isCut(); next = this.#messages[0]) {
      const wait = next.sentAt + this.#route.delay() - this.#clock.now()
      if (wait > 0) {
        this.#timer = this.#clock.setTimeout(() => this.flush(), wait)
        break
      }
      this.#messages.shift()
      next.deliver()
    }
    this.#isDelivering = false
  }

  /** Discards all messages, as when the connection between the servers is closed. */
  clear(): void {
    this.#messages.length = 0
    this.#clock.clearTimeout(this.#timer)
  }
}
