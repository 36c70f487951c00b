// Explains frames that are written in hex, as text.
import { explain, type ExplainOptions } from '../../protocol/index.ts'
import type { Line } from '../conversation/conversation.ts'
import { HexFrames, type HexFrame } from './hex-frames.ts'
import { CaptureError } from './packet.ts'

/** The longest line. Longer ones are no frames, and must not fill the memory. */
const LONGEST_LINE = 256 * 1024 * 1024

/** A byte order mark, which editors of Windows write before the first line, read as latin1. */
const MARK = /^\u00ef\u00bb\u00bf/

export class HexExplainer {
  readonly #onLine: (line: Line) => void
  readonly #frames = new HexFrames(frame => this.#onFrame(frame))
  /** The operations of the requests so far, by xid, because a reply does not name its operation. */
  readonly #opcodes = new Map<number, number>()
  /** The parts of the line that has begun, and the number of their characters. */
  #rest: string[] = []
  #length = 0

  constructor(onLine: (line: Line) => void) {
    this.#onLine = onLine
  }

  /** @throws CaptureError if the bytes are not hex */
  push(chunk: Buffer): void {
    const lines = chunk.toString('latin1').split('\n')
    const last = lines.pop() ?? ''
    for (const line of lines) {
      this.#rest.push(line)
      this.#endLine()
    }
    this.#rest.push(last)
    this.#length += last.length
    if (this.#length > LONGEST_LINE) throw new CaptureError('the input has a line that is too long for a frame')
  }

  finish(): void {
    this.#endLine()
    this.#frames.finish()
  }

  #endLine(): void {
    this.#frames.line(this.#rest.join('').replace(MARK, ''))
    this.#rest = []
    this.#length = 0
  }

  giveUp(): void {}

  summary(): undefined {}

  #onFrame({ bytes, from, missing }: HexFrame): void {
    if (missing > 0)
      return this.#onLine({
        sentence: `a frame of ${bytes.length - 4 + missing} bytes, of which the input lacks ${missing}`,
        dump: '',
        isPing: false,
      })
    const known: ExplainOptions = { from }
    const first = explain(bytes, known)
    // A reply to the xid 0 can look like the answer to connect, which starts with a version that is 0.
    const opcode = first.from === 'server' ? this.#opcodes.get(first.xid ?? 0) : undefined
    const told = opcode === undefined ? first : explain(bytes, { ...known, opcode })
    if (told.from === 'client' && told.xid !== undefined) this.#opcodes.set(told.xid, opcodeOf(bytes))
    this.#onLine({
      sentence: told.sentence,
      dump: told.dump,
      isPing: told.op === 'ping',
      frame: { from: told.from, op: told.op, xid: told.xid },
    })
  }
}

/** The opcode of a request, which may have its length. */
const opcodeOf = (bytes: Buffer): number => bytes.readInt32BE(bytes.readInt32BE(0) === bytes.length - 4 ? 8 : 4)
