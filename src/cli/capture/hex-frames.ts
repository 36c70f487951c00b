// Reads frames that are written in hex, one a line or spread over several, as bare digits or as a dump with offsets.
import { explain } from '../../protocol/index.ts'
import { ByteQueue } from '../conversation/byte-queue.ts'
import { HexDumps } from './hex-dump.ts'
import { CaptureError } from './packet.ts'

export interface HexFrame {
  bytes: Buffer
  /** The end that wrote the frame, if the line says it. */
  from: 'client' | 'server' | undefined
  /** The number of bytes that the length of the frame promises and the input lacks. */
  missing: number
}

/** The largest announced length for which the reader waits. */
const LONGEST = 64 * 1024 * 1024
/** The shortest frame: a request without a body. */
const SHORTEST = 8

const MARKS: Readonly<Record<string, HexFrame['from']>> = {
  '>': 'client',
  '<': 'server',
  client: 'client',
  server: 'server',
}

export class HexFrames {
  readonly #onFrame: (frame: HexFrame) => void
  readonly #pending = new ByteQueue()
  #from: HexFrame['from']
  #line = 0
  readonly #dumps = new HexDumps(problem => this.#fail(problem))
  /** True if the last line was one of a dump, whose bytes go on in the next line. */
  #isDump = false

  constructor(onFrame: (frame: HexFrame) => void) {
    this.#onFrame = onFrame
  }

  /**
   * Reads one line. An empty line ends a frame.
   * @throws CaptureError if the line is not hex
   */
  line(text: string): void {
    this.#line++
    const [, start = '', mark, rest = ''] = LINE.exec(text.trimEnd()) ?? []
    const row = this.#dumps.read(start, rest)
    if (row === undefined) this.#dumps.end()
    this.#isDump = row !== undefined
    const bytes = row?.bytes ?? this.#bare(rest)
    if (row === undefined ? bytes.length === 0 || mark !== undefined : row.isNew) this.finish()
    if (mark !== undefined) this.#from = MARKS[mark]
    if (bytes.length > 0) this.#push(bytes)
  }

  /** Reads digits without an offset. */
  #bare(text: string): Buffer {
    const groups = text
      .replace(/#.*$/s, '')
      .replace(/0x/gi, ' ')
      .split(/[\s:,]+/)
    const digits = groups.join('')
    if (/[^\da-f]/i.test(digits)) this.#fail('is not hex, and the input is not a capture of tcpdump -w')
    // od -t u1 prints decimal numbers in groups of one to three digits.
    if (groups.some(({ length }) => length % 2 === 1)) this.#fail('has an odd number of hex digits in a group')
    return Buffer.from(digits, 'hex')
  }

  #fail(problem: string): never {
    throw new CaptureError(`line ${this.#line} of the input ${problem}`)
  }

  /** Reports a frame that lacks bytes. */
  finish(): void {
    const { bytes } = this.#pending
    if (bytes.length > 0) this.#report(bytes, bytes.length < 4 ? 0 : missingOf(bytes))
    this.#pending.clear()
    this.#from = undefined
  }

  #report(bytes: Buffer, missing = 0): void {
    this.#onFrame({ bytes, from: this.#from, missing })
  }

  #push(bytes: Buffer): void {
    // A line may be a frame without its length. Then its xid stands there, which must not be taken for a length.
    if (!this.#isDump && this.#pending.length === 0 && explain(bytes, this.#from && { from: this.#from }).op !== '')
      return this.#report(bytes)
    this.#pending.push(bytes)
    while (this.#pending.length > 0) {
      const { length } = this.#pending
      const missing = missingOf(this.#pending.bytes)
      if (missing === undefined) return this.#report(this.#pending.take(length))
      if (missing > 0) return
      this.#report(this.#pending.take(length + missing))
    }
  }
}

/**
 * Returns the number of bytes that a frame with its length lacks; negative if more bytes follow it. Returns undefined if
 * the bytes do not start with a length.
 */
function missingOf(bytes: Buffer): number | undefined {
  if (bytes.length < 4) return 1
  const length = bytes.readInt32BE(0)
  return length < SHORTEST || length > LONGEST ? undefined : 4 + length - bytes.length
}

/** What stands before the bytes, which may have a mark in it, and the rest. */
const LINE = /^(\s*(>|<|client\b|server\b)?:?\s*)(.*)$/s
