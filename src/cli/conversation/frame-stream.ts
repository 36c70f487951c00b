// Splits the bytes from one end into frames, and finds the next frame after bytes that the reader did not get.

/** What a stream reports. */
export interface FrameStreamListener {
  /**
   * A whole frame, with its length prefix.
   * @param missing the number of its bytes that the reader did not get; they are zeros in `frame`
   * @param intact the number of its first bytes that are all real
   */
  frame(frame: Buffer, missing: number, intact: number): void
  /** Returns false if the first four bytes of the stream show that it has no frames. */
  isFramed(opening: Buffer): boolean
  /** The bytes of a frame cannot have this length, which a later frame may have. */
  impossible(length: number): void
  /**
   * True if a frame starts at an offset of `bytes`, undefined if that depends on bytes that follow.
   * @param isStart true if `bytes` are the first ones that the reader has of the connection
   */
  isFrameAt(bytes: Buffer, offset: number, isStart: boolean): boolean | undefined
  /** The stream goes on with a frame after `skipped` bytes that are no whole frame. */
  found(skipped: number): void
}

/**
 * The longest frame in bytes. A stream with a longer one is not read any further. Servers accept requests of a megabyte
 * by default.
 */
export const MAX_FRAME = 64 * 1024 * 1024

/**
 * The longest frame that the search accepts, with its prefix. By default, servers refuse requests of more than a
 * megabyte.
 */
export const LONGEST_SEARCH = 1024 * 1024 + 1024

const PREFIX = 4

type State = 'opening' | 'framed' | 'searching' | 'ignored'

export class FrameStream {
  readonly #listener: FrameStreamListener
  #state: State
  #isGapped: boolean
  /** The bytes since the end of the last frame. They are joined only when a whole frame is there. */
  #chunks: Buffer[] = []
  #length = 0
  /** The length of the frame that the bytes start, with its prefix. */
  #needed = PREFIX
  /** The number of bytes of this frame that were missed, and the number of real ones before them. */
  #missing = 0
  #intact = Infinity
  /** The number of bytes that the search has passed over. */
  #skipped = 0
  /** The offsets at which the search needs more bytes, and the number of bytes that it has seen. */
  #uncertain: readonly number[] = []
  #searched = 0
  #isStart: boolean

  /** @param isJoined true if the stream may begin within a frame */
  constructor(listener: FrameStreamListener, isJoined = false) {
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
    return this.#state === 'searching' ? this.#skipped + this.#length : 0
  }

  ignore(): void {
    this.#state = 'ignored'
    this.#chunks = []
  }

  push(chunk: Buffer): void {
    if (this.#state === 'ignored') return
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#state === 'searching') this.#search()
    else if (this.#length >= this.#needed) this.#cut()
  }

  /** The frame that has begun and not ended: the number of its bytes so far, and in all if that is known. */
  get unfinished(): { received: number; length: number | undefined } | undefined {
    if ((this.#state !== 'framed' && this.#state !== 'opening') || this.#length === 0) return undefined
    return {
      received: this.#length - this.#missing,
      length: this.#needed > PREFIX ? this.#needed : undefined,
    }
  }

  /** The reader did not get the next `count` bytes. Returns true if the end of their frame is known all the same. */
  lost(count: number): boolean {
    if (this.#state === 'ignored') return true
    this.#isGapped = true
    // Within a frame whose length is known, the end of the frame is known too.
    if (this.#state === 'framed' && this.#needed > PREFIX && count <= this.#needed - this.#length) {
      this.#intact = Math.min(this.#intact, this.#length)
      this.#missing += count
      this.push(Buffer.alloc(count))
      return true
    }
    this.#startSearch(this.#length)
    return false
  }

  #startSearch(skipped: number): void {
    if (this.#state !== 'searching') this.#skipped = 0
    this.#state = 'searching'
    this.#skipped += skipped
    this.#isStart = false
    this.#skipTo(0, Buffer.alloc(0))
  }

  #joined(): Buffer {
    const [only] = this.#chunks
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks)
  }

  /** Makes `rest` the bytes of the next frame. */
  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#length = rest.length
    this.#needed = PREFIX
    this.#missing = 0
    this.#intact = Infinity
  }

  #cut(): void {
    let rest = this.#joined()
    while (rest.length >= PREFIX) {
      if (this.#state === 'opening') {
        if (!this.#listener.isFramed(rest.subarray(0, PREFIX))) return this.ignore()
        this.#state = 'framed'
      }
      const length = rest.readInt32BE(0)
      if (length < 0 || length > MAX_FRAME) return this.#onImpossible(length, rest)
      this.#needed = PREFIX + length
      if (rest.length < this.#needed) break
      this.#listener.frame(rest.subarray(0, this.#needed), this.#missing, Math.min(this.#intact, this.#needed))
      rest = rest.subarray(this.#needed)
      this.#keep(rest)
      // The listener has found out that the connection has no frames.
      if (this.#isIgnored()) return
    }
    if (this.#needed === PREFIX) this.#keep(rest)
    else this.#chunks = [rest]
  }

  #isIgnored(): boolean {
    return this.#state === 'ignored'
  }

  #onImpossible(length: number, rest: Buffer): void {
    this.#listener.impossible(length)
    if (!this.#isGapped) return this.ignore()
    this.#startSearch(1)
    this.push(rest.subarray(1))
  }

  #search(): void {
    const bytes = this.#joined()
    const isStart = (at: number) => this.#isStart && this.#skipped + at === 0
    const uncertain: number[] = []
    for (const at of this.#unsearched(bytes.length)) {
      const verdict = this.#listener.isFrameAt(bytes, at, isStart(at))
      if (verdict === undefined) uncertain.push(at)
      if (verdict !== true) continue
      this.#skipTo(at, bytes)
      this.#state = 'framed'
      this.#listener.found(this.#skipped)
      return this.#cut()
    }
    const [first = bytes.length] = uncertain
    const start = bytes.length - first > LONGEST_SEARCH ? bytes.length : first
    this.#skipTo(start, bytes)
    this.#uncertain = uncertain.filter(at => at >= start).map(at => at - start)
    this.#searched = bytes.length - start
  }

  /** The offsets at which a frame may start. */
  *#unsearched(end: number): Generator<number> {
    for (const at of this.#uncertain) yield at
    for (let at = this.#searched; at < end; at++) yield at
  }

  #skipTo(at: number, bytes: Buffer): void {
    this.#skipped += at
    this.#keep(bytes.subarray(at))
    this.#uncertain = []
    this.#searched = 0
  }
}
