// The bytes of one direction of a TCP connection, in order: from segments that come late, twice, overlapping, or never.
import { MinHeap } from '../conversation/min-heap.ts'

/** A part of a stream, at a position counted in bytes. */
export interface Piece {
  at: number
  payload: Buffer
  /** The number of bytes after the payload that the capture has cut off. */
  cutOff: number
  /** True if the sender closes its direction after the payload. */
  isEnd: boolean
  /** The position in the other direction up to which the sender had received, if the segment says it. */
  ack: number | undefined
  /** The time of the capture, in seconds. */
  time: number
  /** When the piece was read, in milliseconds of the reader's clock. */
  arrived: number
}

/** What is next in a stream: a piece, a hole of `count` bytes, or nothing. */
export type Next = { piece: Piece } | { hole: number; since: number; isAcknowledged: boolean } | undefined

/** The end of a direction counts as one byte. */
const endOf = (piece: Piece) => piece.at + piece.payload.length + piece.cutOff + (piece.isEnd ? 1 : 0)

export class Stream {
  /** The position of the next byte. Undefined until the stream's start is known. */
  #next: number | undefined
  /** Pieces behind a hole, or that wait for the other direction, by position, and then in the order of their arrival. */
  readonly #held = new MinHeap<{ piece: Piece; number: number }>((a, b) =>
    a.piece.at === b.piece.at ? a.number < b.number : a.piece.at < b.piece.at,
  )
  #count = 0
  #heldBytes = 0
  /** The end of the piece that reaches farthest. */
  #end = -Infinity
  /** The position up to which the other end has confirmed the bytes, and when the reader saw that. */
  #acknowledged: { at: number; since: number } | undefined
  /** A position near the current ones, to which 32-bit numbers of segments are compared. */
  #near: number | undefined
  /** The number of bytes that came more than once. */
  repeated = 0

  get next(): number | undefined {
    return this.#next
  }

  /** The position after all bytes that are known to be sent. -Infinity if there are none. */
  get end(): number {
    return Math.max(this.#end, this.#next ?? -Infinity, this.#acknowledged?.at ?? -Infinity)
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Converts a segment's number to a position. The numbers start again after 4 GiB, and positions do not. */
  positionOf(seq: number): number {
    this.#near = this.#near === undefined ? seq : this.#near + ((seq - this.#near) | 0)
    return this.#near
  }

  /** Sets the position of the first byte. Has no effect if the stream has begun. */
  start(at: number): void {
    this.#next ??= at
  }

  acknowledge(at: number, now: number): void {
    if (this.#acknowledged === undefined || at > this.#acknowledged.at) this.#acknowledged = { at, since: now }
  }

  hold(piece: Piece): void {
    this.#held.push({ piece, number: this.#count++ })
    this.#heldBytes += piece.payload.length
    this.#end = Math.max(this.#end, endOf(piece))
  }

  /** Returns what is next. Removes pieces of which every byte has been taken. */
  peek(): Next {
    const next = this.#next
    for (let first = this.#first; first !== undefined; first = this.#first) {
      if (next === undefined) return { hole: 0, since: first.arrived, isAcknowledged: true }
      if (first.at > next) return this.#hole(next, first.at, first.arrived)
      if (next < endOf(first)) return { piece: first }
      this.repeated += first.payload.length
      this.#remove()
    }
    const acknowledged = this.#acknowledged
    if (acknowledged === undefined || acknowledged.at <= (next ?? -Infinity)) return undefined
    return this.#hole(next ?? acknowledged.at, acknowledged.at, acknowledged.since)
  }

  #hole(from: number, to: number, since: number): Next {
    return { hole: to - from, since, isAcknowledged: to <= (this.#acknowledged?.at ?? from) }
  }

  /** Removes the piece that {@link peek} has returned. Returns its new bytes, and the number of those cut off. */
  take(): { bytes: Buffer; cutOff: number } {
    const first = this.#remove()
    if (first === undefined || this.#next === undefined) return { bytes: Buffer.alloc(0), cutOff: 0 }
    const old = Math.min(this.#next - first.at, first.payload.length)
    const cutOff = Math.max(0, Math.min(first.cutOff, first.at + first.payload.length + first.cutOff - this.#next))
    this.repeated += old
    this.#next = endOf(first)
    return { bytes: first.payload.subarray(old), cutOff }
  }

  /** Starts with the first piece, or after the confirmed bytes, if the start is unknown. */
  begin(): void {
    this.#next ??= this.#first?.at ?? this.#acknowledged?.at
  }

  /** Leaves out `count` bytes. */
  skip(count: number): void {
    if (this.#next === undefined) this.begin()
    else this.#next += count
  }

  get #first(): Piece | undefined {
    return this.#held.peek()?.piece
  }

  #remove(): Piece | undefined {
    const first = this.#held.pop()?.piece
    this.#heldBytes -= first?.payload.length ?? 0
    return first
  }
}
