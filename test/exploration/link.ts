// One connection of a client, from dial to close. Nothing passes through it until the explorer chooses the step.
import type { Dial, Transport, TransportHandler } from '../../src/index.ts'
import { explain, type ExplainOptions } from '../../src/protocol/index.ts'
import type { Fingerprint } from './fingerprint.ts'

/** What the server sent: a chunk, or the end of the connection. */
type Packet = Buffer | 'closed'

export class Link implements Transport {
  readonly #handler: TransportHandler
  readonly #server: Transport
  /** The frames on their way to the server. */
  readonly up: Buffer[] = []
  /** The packets on their way to the client. */
  readonly down: Packet[] = []
  /** True if the client has no connection any more. The server may still receive what was sent. */
  isLeft = false
  /** True if the server has closed the connection, or knows that the client has. */
  isEnded = false
  /** When the server last received something, ms. */
  lastUpAt = 0
  /** The opcodes of the requests by their xids, because replies do not contain them. */
  readonly #opcodes = new Map<number, number>()
  /** True until the server's answer to the handshake is delivered: it has no header. */
  #isNew = true

  constructor(dial: Dial, address: Parameters<Dial>[0], handler: TransportHandler) {
    this.#handler = handler
    this.#server = dial(address, {
      opened: () => {
        if (!this.isLeft) handler.opened()
      },
      received: chunk => {
        if (!this.isLeft) this.down.push(Buffer.from(chunk))
      },
      closed: () => {
        this.isEnded = true
        this.up.length = 0
        if (!this.isLeft) this.down.push('closed')
      },
    })
  }

  /** The client's process writes whole frames. Each travels alone: other clients' requests can come in between. */
  write(bytes: Uint8Array): void {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let at = 0; at < all.length && !this.isEnded;) {
      const end = frameEnd(all, at)
      this.up.push(all.subarray(at, end))
      if (end - at >= MIN_FRAME) this.#opcodes.set(all.readInt32BE(at + XID), all.readInt32BE(at + OPCODE))
      at = end
    }
  }

  destroy(): void {
    this.isLeft = true
    this.down.length = 0
  }

  /** True if the server does not know yet that the client has left. */
  get isStale(): boolean {
    return this.isLeft && !this.isEnded
  }

  /** The server executes the next request. */
  deliverUp(now: number): void {
    const frame = this.up.shift()
    this.lastUpAt = now
    if (frame !== undefined) this.#server.write(frame)
  }

  describeUp(name: string): string {
    const [frame] = this.up
    return frame === undefined ? '' : `${name} → server: ${sentenceOf(frame, { from: 'client' })}`
  }

  describeDown(name: string): string {
    const [packet] = this.down
    const from = `server → ${name}: `
    if (packet === undefined || packet === 'closed') return `${from}end of the connection`
    const sentences: string[] = []
    for (let at = 0; at < packet.length;) {
      const frame = packet.subarray(at, frameEnd(packet, at))
      const opcode = frame.length >= MIN_FRAME ? this.#opcodes.get(frame.readInt32BE(XID)) : undefined
      sentences.push(sentenceOf(frame, { from: 'server', opcode }))
      at += frame.length
    }
    return from + sentences.join(', then ')
  }

  /** Delivers the next packet. */
  deliverDown(): void {
    const packet = this.down.shift()
    if (packet === 'closed') this.lose()
    else if (packet !== undefined) this.#handler.received(packet)
    this.#isNew = false
  }

  /** Makes one chunk of all that waits, as when a process reads its socket late. */
  join(): void {
    const chunks = this.down.filter(packet => packet !== 'closed')
    if (chunks.length > 1) this.down.splice(0, chunks.length, Buffer.concat(chunks))
  }

  /** The client learns that the connection is lost. What it has sent may still arrive. */
  lose(): void {
    this.destroy()
    this.#handler.closed()
  }

  /** The server learns that the client has left. What has not arrived is lost. */
  end(): void {
    this.up.length = 0
    this.isEnded = true
    this.#server.destroy()
  }

  /**
   * Adds the next packets to the fingerprint, without the zxid in the header of each reply. Two schedules in which a read
   * and another client's write change places differ only in that. A client uses it for nothing but the decision of a
   * server which events it has missed, and that decision is the same: the client has received all events up to any zxid
   * that it knows.
   */
  addTo(fingerprint: Fingerprint, packets: number): void {
    for (const [i, packet] of this.down.slice(0, packets).entries()) {
      if (packet === 'closed') {
        fingerprint.add('closed')
        continue
      }
      for (let at = 0; at < packet.length;) {
        const end = frameEnd(packet, at)
        const hasHeader = (!this.#isNew || i > 0) && end - at >= 20
        fingerprint.addBytes(packet, at, hasHeader ? at + 8 : end)
        if (hasHeader) fingerprint.addBytes(packet, at + 16, end)
        at = end
      }
    }
  }
}

/** Returns where the frame ends that starts at `start`. The words that ask for a server's state, and the answers, have no length. */
const frameEnd = (bytes: Buffer, start: number): number =>
  bytes.length < MIN_FRAME ? bytes.length : start + 4 + bytes.readInt32BE(start)

/** Where a request has its xid and its opcode, after its length. */
const XID = 4
const OPCODE = 8

/** Describes a frame, without what is the same in all of them, and with the first digits of each uuid. */
const sentenceOf = (frame: Buffer, options: ExplainOptions): string =>
  explain(frame, options)
    .sentence.replace(/, acl: \[[^\]]*\]/, '')
    .replace(/^(?:client|server answers) /, '')
    .replace(/([\da-f]{4})[\da-f]{4}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '$1…')

/** The length of a ping's request: no frame is shorter. */
const MIN_FRAME = 12
