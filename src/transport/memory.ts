// Streams within one process, without sockets. Only microtasks pass between a write and its arrival, so no bytes wait
// for a client that does not read.
import type { Accept, ServerTransport, Address, Dial, TransportHandler } from './transport.ts'

/** Returns a `dial` that connects to `accept` and ignores the address. Each stream has a different remote port. */
export function memoryDial(accept: Accept): Dial {
  let lastPort = 0
  return (_address, handler) => {
    const remote: Address = { host: '127.0.0.1', port: ++lastPort }
    const near = new End(handler)
    queueMicrotask(() => {
      if (near.isOver) return
      const far = new End(undefined, near)
      far.handler = accept(far, remote)
      if (far.handler === undefined)
        near.fail(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
      else handler.opened()
    })
    return near
  }
}

// One end of a stream. Microtasks run in the order in which they are queued, so the other end gets writes and a close
// in the order of the calls.
class End implements ServerTransport {
  handler: Omit<TransportHandler, 'opened'> | undefined
  #peer: End | undefined
  #isOver = false

  constructor(handler?: TransportHandler, peer?: End) {
    this.handler = handler
    if (peer === undefined) return
    this.#peer = peer
    peer.#peer = this
  }

  get isOver(): boolean {
    return this.#isOver
  }

  readonly unsent = 0

  pause(): void {
    // Chunks arrive nevertheless.
  }

  resume(): void {
    // Nothing was paused.
  }

  write(bytes: Uint8Array): void {
    if (this.#isOver) return
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    queueMicrotask(() => this.#peer && this.#peer.#receive(chunk))
  }

  end(): void {
    this.destroy()
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    queueMicrotask(() => {
      if (this.#peer) this.#peer.#close()
      this.handler?.closed()
    })
  }

  /** Reports that the stream could not be opened. */
  fail(cause: Error): void {
    this.#isOver = true
    this.handler?.closed(cause)
  }

  #receive(chunk: Buffer): void {
    if (!this.#isOver) this.handler?.received(chunk)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.handler?.closed()
  }
}
