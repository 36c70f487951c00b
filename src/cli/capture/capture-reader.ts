// Reads captures of `tcpdump -w`: bytes in, the segments of TCP connections put in order, and their bytes out. Pure:
// no file, no socket, no clock. This file: the bytes of a capture file to packets, as they arrive.
// May import: cli/conversation, protocol/index.ts.
import { ByteQueue } from '../conversation/byte-queue.ts'
import { CaptureError, type FormatReader, type OnPacket } from './packet.ts'
import { pcap } from './pcap.ts'
import { pcapng } from './pcapng.ts'

const FORMATS: Readonly<Record<string, (onPacket: OnPacket) => FormatReader>> = {
  a1b2c3d4: onPacket => pcap(onPacket, false, 1e6),
  d4c3b2a1: onPacket => pcap(onPacket, true, 1e6),
  a1b23c4d: onPacket => pcap(onPacket, false, 1e9),
  '4d3cb2a1': onPacket => pcap(onPacket, true, 1e9),
  '0a0d0d0a': onPacket => pcapng(onPacket),
}

/** True if the first four bytes of a file are those of a capture. */
export const isCapture = (start: Buffer): boolean => Object.hasOwn(FORMATS, start.toString('hex', 0, 4))

/** Calls back with each packet as soon as its bytes have arrived. */
export class CaptureReader {
  readonly #onPacket: OnPacket
  #format: FormatReader | undefined
  readonly #pending = new ByteQueue()
  #needed = 4

  constructor(onPacket: OnPacket) {
    this.#onPacket = onPacket
  }

  /** True if the bytes so far end within a packet: whoever wrote the capture was interrupted. */
  get isIncomplete(): boolean {
    return this.#pending.length > 0
  }

  /** @throws CaptureError if the bytes are not a capture, or are damaged. Earlier packets have been reported. */
  push(chunk: Buffer): void {
    this.#pending.push(chunk)
    while (this.#pending.length >= this.#needed) {
      const { done, value } = this.#feed(this.#pending.take(this.#needed))
      if (done) throw new CaptureError(value)
      this.#needed = value
    }
  }

  #feed(bytes: Buffer): IteratorResult<number, string> {
    if (this.#format !== undefined) return this.#format.next(bytes)
    const format = FORMATS[bytes.toString('hex')]
    if (format === undefined) return { done: true, value: 'the input is not a capture of tcpdump -w' }
    this.#format = format(this.#onPacket)
    return this.#format.next(bytes)
  }
}
