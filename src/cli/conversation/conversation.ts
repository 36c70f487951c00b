// Explains the traffic of one connection, line by line. Pure: chunks in, lines out.
// May import: cli/runner, protocol/index.ts.
import { explain, opcodes, xids, type Explanation } from '../../protocol/index.ts'
import { FrameStream } from './frame-stream.ts'
import { isFrameAt, neededAt, type End, type Expectation } from './recognise.ts'

export type { End } from './recognise.ts'

export interface Line {
  /** One line of text. */
  sentence: string
  /** The annotated bytes of the frame. Empty if the line is not about a frame, or the frame is not whole. */
  dump: string
  isPing: boolean
  /** What the frame is. Undefined if the line is not about a frame, or the frame is not whole. */
  frame?: Pick<Explanation, 'from' | 'op' | 'xid'>
  /** The whole frame, with its length prefix. Undefined if `frame` is. */
  bytes?: Buffer
  /**
   * The ends of the connection, as 'address:port', if the line says that it is open. `isJoined`: it was opened before its
   * reader began.
   */
  ends?: { client: string; server: string; isJoined: boolean }
  /** True if the line says that the connection is closed, or was reset. */
  isClosed?: boolean
}

/** The type of a TLS handshake record. */
const TLS_HANDSHAKE = 0x16
/** The length, the xid and the opcode. */
const REQUEST_START = 12
/** The length, the xid and the zxid. */
const ZXID_END = 16

export class Conversation {
  readonly #onLine: (line: Line) => void
  readonly #streams: Record<End, FrameStream>
  /** The operations of the requests in flight, by xid, because a reply does not name its operation. */
  readonly #opcodes = new Map<number, number>()
  /** The ends whose first frame has been read, or was missed. */
  readonly #handshaken = new Set<End>()
  #lastZxid: bigint | undefined

  /** @param isJoined true if the first bytes may not be the first ones of the connection */
  constructor(onLine: (line: Line) => void, isJoined = false) {
    this.#onLine = onLine
    this.#streams = { client: this.#streamOf('client', isJoined), server: this.#streamOf('server', isJoined) }
  }

  /** Processes the next bytes from one end. Never throws: bytes that are not a frame are reported in a line. */
  push(from: End, chunk: Buffer): void {
    this.#streams[from].push(chunk)
  }

  /** The reader did not get the next `count` bytes from one end. The conversation goes on with the next frame. */
  lost(from: End, count: number): void {
    // Within a frame, the line about the frame says how many bytes it lacks.
    if (!this.#streams[from].lost(count)) this.#note(`${from} sends ${count} bytes that the capture lacks`)
  }

  /** The connection has ended, or its reader. Reports the bytes that are no whole frame. */
  end(): void {
    for (const from of ['client', 'server'] as const) {
      const { unrecognised, unfinished } = this.#streams[from]
      if (unfinished !== undefined)
        this.#note(
          `${from} sends only ${unfinished.received} of the ${unfinished.length ?? 'unknown number of'} bytes of a frame`,
        )
      if (unrecognised > 0) this.#note(`${from} sends ${unrecognised} bytes without a frame that can be recognised`)
    }
  }

  #note(sentence: string): void {
    this.#onLine({ sentence, dump: '', isPing: false })
  }

  #streamOf(from: End, isJoined: boolean): FrameStream {
    return new FrameStream(
      {
        frame: frame => this.#onFrame(from, frame),
        damagedFrame: (start, length, missing) => this.#onDamagedFrame(from, start, length, missing),
        isFramed: opening => {
          const problem = from === 'client' ? describeOpening(opening) : undefined
          if (problem === undefined) return true
          this.#note(`${from} ${problem}`)
          this.#streams.server.ignore()
          return false
        },
        impossible: length =>
          this.#note(`${from} announces a frame of ${length} bytes: its further bytes are not explained`),
        neededAt: (bytes, at, isStart) => neededAt(from, bytes, at, this.#expected(from, isStart)),
        isFrameAt: (bytes, at, isStart) => isFrameAt(from, bytes, at, this.#expected(from, isStart)),
        found: skipped => {
          if (skipped > 0) this.#note(`${from} sends ${skipped} bytes that belong to no whole frame`)
        },
      },
      isJoined,
    )
  }

  #expected(from: End, isStart: boolean): Expectation {
    return {
      opcodeOf: xid => this.#opcodes.get(xid),
      lastZxid: this.#lastZxid,
      mayBeFirst: isStart && !this.#handshaken.has(from),
    }
  }

  #onFrame(from: End, frame: Buffer): void {
    const first = this.#isFirst(from, frame)
    const xid = first || frame.length < 8 ? undefined : frame.readInt32BE(4)
    const opcode = xid === undefined ? undefined : this.#opcodeOf(from, xid, frame)
    // Pass the frame with its length, because a reply without it can look like a frame that starts with a length.
    const explanation = explain(frame, { from, first, opcode })
    const { sentence, dump, op } = explanation
    if (from === 'server' && !first && frame.length >= ZXID_END) this.#onZxid(frame.readBigInt64BE(8))
    this.#onLine({ sentence, dump, isPing: xid === xids.ping, frame: { from, op, xid: explanation.xid }, bytes: frame })
  }

  /** A frame of which only some bytes are known. Its header may be among the first ones. */
  #onDamagedFrame(from: End, start: Buffer, length: number, missing: number): void {
    const first = !this.#handshaken.has(from) && start.length >= 8 && start.readInt32BE(4) === 0
    this.#handshaken.add(from)
    const xid = first || start.length < 8 ? undefined : start.readInt32BE(4)
    if (xid !== undefined) this.#opcodeOf(from, xid, start)
    const name = first ? 'connect' : xid === undefined ? 'a frame' : `#${xid}`
    this.#note(`${from} sends ${name}, of whose ${length - 4} bytes the capture lacks ${missing}`)
  }

  /** True for the first frame of an end on the connection. After a gap, only the frame itself can tell. */
  #isFirst(from: End, frame: Buffer): boolean {
    if (this.#handshaken.has(from)) return false
    this.#handshaken.add(from)
    return !this.#streams[from].isGapped || explain(frame, { from, first: true }).op === 'connect'
  }

  #onZxid(zxid: bigint): void {
    if (zxid > 0n) this.#lastZxid = zxid
  }

  #opcodeOf(from: End, xid: number, frame: Buffer): number | undefined {
    if (from === 'client') {
      const opcode = frame.length < REQUEST_START ? undefined : frame.readInt32BE(8)
      if (opcode !== undefined && opcode !== opcodes.ping) this.#opcodes.set(xid, opcode)
      return opcode
    }
    const opcode = this.#opcodes.get(xid)
    this.#opcodes.delete(xid)
    return opcode
  }
}

/** Describes the first four bytes if they are not the length of a frame. */
function describeOpening(bytes: Buffer): string | undefined {
  const word = bytes.toString('latin1')
  if (/^[a-z]{4}$/.test(word)) return `sends the four-letter word ${word}`
  if (bytes[0] === TLS_HANDSHAKE && bytes[1] === 3) return 'speaks TLS: its bytes cannot be explained'
  return undefined
}
