// What two ends of one connection say to each other, line by line. Pure: chunks in, lines out.
import { explain, Framer, JuteError, opcodes, xids } from '../src/protocol/index.ts'

export type End = 'client' | 'server'

export interface Line {
  /** One line of text. */
  sentence: string
  /** The annotated bytes of a frame; '' where there is no frame. */
  dump: string
  isPing: boolean
}

/** A longer frame is passed on, and not kept to be told. Servers take requests of a megabyte by default. */
const LONGEST = 64 * 1024 * 1024
/** The type of a TLS handshake record. */
const TLS_HANDSHAKE = 0x16
const REQUEST_HEADER = 8

export class Conversation {
  readonly #onLine: (line: Line) => void
  readonly #streams: Record<End, FrameStream>
  /** Of the requests without an answer: a reply does not say what it answers. */
  readonly #opcodes = new Map<number, number>()
  readonly #handshaken = new Set<End>()

  constructor(tell: (line: Line) => void) {
    this.#onLine = tell
    this.#streams = { client: this.#streamOf('client'), server: this.#streamOf('server') }
  }

  /** Takes in what `from` said next. It never throws: what is no frame is told as such. */
  push(from: End, chunk: Buffer): void {
    this.#streams[from].push(chunk)
  }

  #streamOf(from: End): FrameStream {
    const remark = (sentence: string) => this.#onLine({ sentence: `${from} ${sentence}`, dump: '', isPing: false })
    return new FrameStream(
      frame => this.#onFrame(from, frame),
      opening => {
        const what = from === 'client' ? describeOpening(opening) : undefined
        if (what === undefined) return true
        remark(what)
        this.#streams.server.ignore()
        return false
      },
      remark,
    )
  }

  #onFrame(from: End, frame: Buffer): void {
    const first = !this.#handshaken.has(from)
    this.#handshaken.add(from)
    const xid = first || frame.length < 4 ? undefined : frame.readInt32BE(0)
    const opcode = xid === undefined ? undefined : this.#opcodeOf(from, xid, frame)
    // With its length, since without it an answer can look like one that has it.
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

/** Cuts what one end says into frames, unless it opens with something else, and until it says what is none. */
class FrameStream {
  readonly #isFramed: (opening: Buffer) => boolean
  readonly #note: (sentence: string) => void
  readonly #framer: Framer
  #opening: Buffer | undefined = Buffer.alloc(0)
  #isIgnored = false

  constructor(
    onFrame: (frame: Buffer) => void,
    isFramed: (opening: Buffer) => boolean,
    remark: (sentence: string) => void,
  ) {
    this.#isFramed = isFramed
    this.#note = remark
    this.#framer = new Framer(LONGEST, (bytes, start, end) => onFrame(bytes.subarray(start, end)))
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
      this.#note(`announces ${error.message}: what it says from here on is passed on and not told`)
      this.ignore()
    }
  }
}

/** Where the first four bytes are no length, what they are. */
function describeOpening(bytes: Buffer): string | undefined {
  const word = bytes.toString('latin1')
  if (/^[a-z]{4}$/.test(word)) return `sends the four-letter word ${word}`
  if (bytes[0] === TLS_HANDSHAKE && bytes[1] === 3) return 'speaks TLS: its frames are passed on and cannot be told'
  return undefined
}
