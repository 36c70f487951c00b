// A `dial` function whose connection can be cut. It can also refuse new connections.
import { tcp } from '../../src/transport/tcp.ts'
import type { Dial, Transport, TransportHandler } from '../../src/transport/transport.ts'

const dialTcp = tcp()

export class CuttableDial {
  #isDown = false
  #open: { transport: Transport; handler: TransportHandler } | undefined

  readonly dial: Dial = (address, handler) => {
    if (this.#isDown) {
      setImmediate(() => handler.closed(new Error('the link is down')))
      return { write: () => undefined, destroy: () => undefined }
    }
    const isOurs = () => this.#open?.handler === handler
    const transport = dialTcp(address, {
      opened: () => isOurs() && handler.opened(),
      received: chunk => isOurs() && handler.received(chunk),
      closed: cause => isOurs() && handler.closed(cause),
    })
    this.#open = { transport, handler }
    return transport
  }

  /** Drops the connection without closing the session. The session may reconnect. */
  cut(): void {
    const open = this.#open
    this.#open = undefined
    open?.transport.destroy()
    open?.handler.closed(new Error('the link was cut'))
  }

  /** Drops the connection, and refuses new ones until {@link up}. */
  down(): void {
    this.#isDown = true
    this.cut()
  }

  up(): void {
    this.#isDown = false
  }
}
