// Splits the bytes from one end into frames, and finds the next frame after bytes that the reader did not get. Its cost is
// in proportion to the bytes, whatever they are.
import { ByteQueue } from './byte-queue.ts'
import { MinHeap } from './min-heap.ts'

/** What a stream reports. */
export interface FrameStreamListener {
  /** A whole frame, with its length prefix. */
  frame(frame: Buffer): void
  /**
   * A frame of which the reader did not get some bytes.
   * @param start its first bytes, up to the first one that is missing; at most {@link START}
   * @param length the number of its bytes, with its length prefix
   * @param missing how many of them are missing
   */
  damagedFrame(start: Buffer, length: number, missing: number): void
  /** Returns false if the first four bytes of the stream show that it has no frames. */
  isFramed(opening: Buffer): boolean
  /** The bytes of a frame cannot have this length, which a later frame may have. */
  impossible(length: number): void
  /**
   * Returns how many bytes from an offset of `bytes` on must be there to tell whether a frame starts at it; 0 if none can
   * start there. Takes the same short time for any bytes.
   * @param isStart true if `bytes` are the first ones that the reader has of the connection
   */
  neededAt(bytes: Buffer, offset: number, isStart: boolean): number
  /** True if a frame starts at an offset of `bytes`, which has as many bytes as {@link neededAt} has returned. */
  isFrameAt(bytes: Buffer, offset: number, isStart: boolean): boolean
  /** The stream goes on with a frame after `skipped` bytes that are no whole frame. */
  found(skipped: number): void
}

/**
 * The longest frame in bytes. A stream with a longer one is not read any further. Servers accept requests of a megabyte
 * by default.
 */
const MAX_FRAME = 64 * 1024 * 1024

/** The shortest frame, without its prefix: a request without a body. */
const SHORTEST = 8

/**
 * The longest frame that the search accepts, with its prefix. By default, servers refuse requests of more than a
 * megabyte.
 */
export const LONGEST_SEARCH = 1024 * 1024 + 1024

/** The number of bytes of a damaged frame that are kept. They hold the header. */
const START = 32

/** How many bytes of supposed frames the search looks at for each byte of the stream. Bytes can look like many frames. */
const LOOKS = 16

const PREFIX = 4

type State = 'opening' | 'framed' | 'damaged' | 'searching' | 'ignored'

/** In place of the end of the bytes that are needed: a frame was found. */
const FOUND = -1

/** An offset at which a frame may start, counted from the start of the stream. */
interface Candidate {
  readonly at: number
  /** The end of the bytes that are needed to tell; undefined if no frame starts here. */
  until: number | undefined
}

export class FrameStream {
  readonly #listener: FrameStreamListener
  #state: State
  #isGapped: boolean
  /** The bytes since the end of the last frame. */
  readonly #queue = new ByteQueue()
  /** The position of the first of them in the stream. */
  #position = 0
  /** The length of the frame that the bytes start, with its prefix. */
  #needed = PREFIX
  /** The frame with missing bytes that has begun: its first bytes, and how many are missing, and still to come. */
  #damaged = { start: Buffer.alloc(0) as Buffer, missing: 0, left: 0 }
  /** The number of bytes that the search has passed over. */
  #skipped = 0
  /** The offsets at which the search needs more bytes, and the position up to which it has looked at all offsets. */
  readonly #uncertain = new MinHeap<Candidate>((a, b) => (a.until ?? 0) < (b.until ?? 0))
  readonly #uncertainByOffset = new MinHeap<Candidate>((a, b) => a.at < b.at)
  #searched = 0
  /** The number of bytes of supposed frames that the search may still look at. */
  #credit = 0
  #isStart: boolean

  /** @param isJoined true if the stream may begin within a frame */
  constructor(listener: FrameStreamListener, isJoined: boolean) {
    this.#listener = listener
    this.#state = isJoined ? 'searching' : 'opening'
    this.#isGapped = isJoined
    this.#isStart = isJoined
  }

  /** True if bytes of this stream were missed. Then a length that makes no sense may be an error of the search. */
  get isGapped(): boolean {
    return this.#isGapped
  }

  /** The number of bytes that were searched for a frame in vain. */
  get unrecognised(): number {
    return this.#state === 'searching' ? this.#skipped + this.#queue.length : 0
  }

  ignore(): void {
    this.#state = 'ignored'
    this.#queue.clear()
  }

  push(chunk: Buffer): void {
    if (this.#state === 'ignored') return
    const rest = this.#state === 'damaged' ? this.#skipDamaged(chunk) : chunk
    if (rest.length === 0) return
    this.#queue.push(rest)
    this.#credit += LOOKS * rest.length
    while (this.#step());
  }

  /** The frame that has begun and not ended: the number of its bytes so far, and in all if that is known. */
  get unfinished(): { received: number; length: number | undefined } | undefined {
    const { missing, left } = this.#damaged
    if (this.#state === 'damaged') return { received: this.#needed - missing - left, length: this.#needed }
    if ((this.#state !== 'framed' && this.#state !== 'opening') || this.#queue.length === 0) return undefined
    return { received: this.#queue.length, length: this.#needed > PREFIX ? this.#needed : undefined }
  }

  /** The reader did not get the next `count` bytes. Returns true if the end of their frame is known all the same. */
  lost(count: number): boolean {
    if (this.#state === 'ignored') return true
    this.#isGapped = true
    // Within a frame whose length is known, the end of the frame is known too.
    const received = this.#queue.length
    if (this.#state === 'framed' && this.#needed > PREFIX && count <= this.#needed - received) {
      this.#damaged = { start: this.#take(received).subarray(0, START), missing: 0, left: this.#needed - received }
      this.#state = 'damaged'
    }
    if (this.#state === 'damaged' && count <= this.#damaged.left) {
      this.#damaged.missing += count
      this.#damaged.left -= count
      this.#endDamaged()
      return true
    }
    const { missing, left } = this.#damaged
    this.#startSearch(this.#state === 'damaged' ? this.#needed - missing - left : received)
    return false
  }

  /** Passes over the bytes of the damaged frame. Returns those after it. */
  #skipDamaged(chunk: Buffer): Buffer {
    const count = Math.min(chunk.length, this.#damaged.left)
    this.#damaged.left -= count
    this.#endDamaged()
    return this.#isIgnored() ? chunk.subarray(chunk.length) : chunk.subarray(count)
  }

  #endDamaged(): void {
    const { start, missing, left } = this.#damaged
    if (left > 0) return
    this.#state = 'framed'
    const length = this.#needed
    this.#needed = PREFIX
    this.#listener.damagedFrame(start, length, missing)
  }

  /** Takes one frame, or finds the next one. Returns false if that needs more bytes. */
  #step(): boolean {
    if (this.#state === 'ignored') return false
    return this.#state === 'searching' ? this.#find() : this.#cut()
  }

  #cut(): boolean {
    const { bytes } = this.#queue
    if (bytes.length < this.#needed) return false
    if (this.#state === 'opening') {
      if (!this.#listener.isFramed(bytes.subarray(0, PREFIX))) this.ignore()
      else this.#state = 'framed'
      return true
    }
    if (this.#needed === PREFIX) {
      const length = bytes.readInt32BE(0)
      if (length < SHORTEST || length > MAX_FRAME) return this.#onImpossible(length)
      this.#needed += length
      return true
    }
    const frame = this.#take(this.#needed)
    this.#needed = PREFIX
    // The listener may find out that the connection has no frames.
    this.#listener.frame(frame)
    return true
  }

  #onImpossible(length: number): boolean {
    this.#listener.impossible(length)
    if (!this.#isGapped) this.ignore()
    else {
      this.#take(1)
      this.#beginSearch(1)
    }
    return true
  }

  /** Searches after all bytes so far. */
  #startSearch(skipped: number): void {
    this.#take(this.#queue.length)
    this.#beginSearch(skipped)
  }

  #beginSearch(skipped: number): void {
    this.#skipped = skipped + (this.#state === 'searching' ? this.#skipped : 0)
    this.#state = 'searching'
    this.#isStart = false
    this.#needed = PREFIX
    this.#clearUncertain()
    this.#searched = this.#position
  }

  #clearUncertain(): void {
    this.#uncertain.clear()
    this.#uncertainByOffset.clear()
  }

  /** Returns true if it has found a frame. Otherwise drops the bytes before the first offset that is uncertain. */
  #find(): boolean {
    const { bytes } = this.#queue
    const end = this.#position + bytes.length
    const ready: Candidate[] = []
    for (let next = this.#uncertain.peek(); (next?.until ?? Infinity) <= end; next = this.#uncertain.peek())
      ready.push(this.#uncertain.pop() as Candidate)
    ready.sort((a, b) => a.at - b.at)
    for (const candidate of ready) {
      candidate.until = this.#lookAt(candidate.at, bytes)
      if (candidate.until === FOUND) return true
      if (candidate.until !== undefined) this.#uncertain.push(candidate)
    }
    while (this.#searched < end) {
      const at = this.#searched++
      const until = this.#lookAt(at, bytes)
      if (until === FOUND) return true
      if (until === undefined) continue
      const candidate = { at, until }
      this.#uncertain.push(candidate)
      this.#uncertainByOffset.push(candidate)
    }
    let first = this.#uncertainByOffset.peek()
    for (; first !== undefined && first.until === undefined; first = this.#uncertainByOffset.peek())
      this.#uncertainByOffset.pop()
    this.#skipTo(first?.at ?? end)
    return false
  }

  /** Returns the end of the bytes that are needed to tell, undefined if no frame starts here, and FOUND if one does. */
  #lookAt(at: number, bytes: Buffer): number | undefined {
    const offset = at - this.#position
    const isStart = this.#isStart && this.#skipped + offset === 0
    const needed = this.#listener.neededAt(bytes, offset, isStart)
    if (needed > bytes.length - offset) return at + needed
    if (needed === 0 || needed > this.#credit) return undefined
    this.#credit -= needed
    if (!this.#listener.isFrameAt(bytes, offset, isStart)) return undefined
    this.#skipTo(at)
    this.#clearUncertain()
    this.#state = 'framed'
    this.#listener.found(this.#skipped)
    return FOUND
  }

  /** Passes over the bytes before a position. */
  #skipTo(position: number): void {
    this.#skipped += this.#take(position - this.#position).length
  }

  #take(count: number): Buffer {
    const taken = this.#queue.take(count)
    this.#position += taken.length
    return taken
  }

  #isIgnored(): boolean {
    return this.#state === 'ignored'
  }
}
