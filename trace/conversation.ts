// Explains the traffic of one connection, line by line. Pure: chunks in, lines out.
import { explain, Framer, JuteError, opcodes, xids } from '../src/protocol/index.ts'

export type End = 'client' | 'server'

export interface Line {
  /** One line of text. */
  sentence: string
  /** The annotated bytes of the frame. Empty if the line is not about a frame. */
  dump: string
  isPing: boolean
}

/**
 * The longest explained frame in bytes. Longer ones are only forwarded. Servers accept requests of a megabyte by
 * default.
 */
const MAX_FRAME = 64 * 1024 * 1024
/** The type of a TLS handshake record. */
const TLS_HANDSHAKE = 0x16
const REQUEST_HEADER = 8

export class Conversation {
  readonly #onLine: (line: Line) => void
  readonly #streams: Record<End, FrameStream>
  /** The operations of the requests in flight, by xid, because a reply does not name its operation. */
  readonly #opcodes = new Map<number, number>()
  readonly #handshaken = new Set<End>()

  constructor(onLine: (line: Line) => void) {
    this.#onLine = onLine
    this.#streams = { client: this.#streamOf('client'), server: this.#streamOf('server') }
  }

  /** Processes the next bytes from one end. Never throws: bytes that are not a frame are reported in a line. */
  push(from: End, chunk: Buffer): void {
    this.#streams[from].push(chunk)
  }

  #streamOf(from: End): FrameStream {
    const note = (sentence: string) => this.#onLine({ sentence: `${from} ${sentence}`, dump: '', isPing: false })
    return new FrameStream(
      frame => this.#onFrame(from, frame),
      opening => {
        const problem = from === 'client' ? describeOpening(opening) : undefined
        if (problem === undefined) return true
        note(problem)
        this.#streams.server.ignore()
        return false
      },
      note,
    )
  }

  #onFrame(from: End, frame: Buffer): void {
    const first = !this.#handshaken.has(from)
    this.#handshaken.add(from)
    const xid = first || frame.length < 4 ? undefined : frame.readInt32BE(0)
    const opcode = xid === undefined ? undefined : this.#opcodeOf(from, xid, frame)
    // Pass the frame with its length, because a reply without it can look like a frame that starts with a length.
    const { sentence, dump } = explain(prefixed(frame), { from, first, ...(opcode !== undefined && { opcode }) })
    this.#onLine({ sentence, dump, isPing: xid === xids.ping })
  }

  #opcodeOf(from: End, xid: number, frame: Buffer): number | undefined {
    if (from === 'client') {
      const opcode = frame.length < REQUEST_HEADER ? undefined : frame.readInt32BE(4)
      if (opcode !== undefined && opcode !== opcodes.ping) this.#opcodes.set(xid, opcode)
      return opcode
    }
    const opcode = this.#opcodes.get(xid)
    this.#opcodes.delete(xid)
    return opcode
  }
}

function prefixed(frame: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(frame.length)
  return Buffer.concat([length, frame])
}

/**
 * Splits the bytes from one end into frames. Ignores all bytes after an opening or a length that cannot belong to a
 * frame.
 */
class FrameStream {
  readonly #isFramed: (opening: Buffer) => boolean
  readonly #note: (sentence: string) => void
  readonly #framer: Framer
  #opening: Buffer | undefined = Buffer.alloc(0)
  #isIgnored = false

  constructor(
    onFrame: (frame: Buffer) => void,
    isFramed: (opening: Buffer) => boolean,
    note: (sentence: string) => void,
  ) {
    this.#isFramed = isFramed
    this.#note = note
    this.#framer = new Framer(MAX_FRAME, (bytes, start, end) => onFrame(bytes.subarray(start, end)))
  }

  ignore(): void {
    this.#isIgnored = true
  }

  push(chunk: Buffer): void {
    if (this.#isIgnored) return
    if (this.#opening !== undefined) {
      chunk = Buffer.concat([this.#opening, chunk])
      this.#opening = chunk.length < 4 ? chunk : undefined
      if (chunk.length < 4) return
      if (!this.#isFramed(chunk.subarray(0, 4))) return this.ignore()
    }
    try {
      this.#framer.push(chunk)
    } catch (error) {
      if (!(error instanceof JuteError)) throw error
      this.#note(`announces ${error.message}: its further bytes are forwarded and not explained`)
      this.ignore()
    }
  }
}

/** Describes the first four bytes if they are not the length of a frame. */
function describeOpening(bytes: Buffer): string | undefined {
  const word = bytes.toString('latin1')
  if (/^[a-z]{4}$/.test(word)) return `sends the four-letter word ${word}`
  if (bytes[0] === TLS_HANDSHAKE && bytes[1] === 3) return 'speaks TLS: its bytes are forwarded and cannot be explained'
  return undefined
}
