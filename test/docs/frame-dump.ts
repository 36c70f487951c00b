// A frame as docs/protocol.md shows it: a sentence, and all bytes, field by field.
import { explain, opcodes, type ExplainOptions } from '../../src/protocol/index.ts'

export interface FrameDump {
  from: 'client' | 'server' | 'unknown'
  op: string
  text: string
}

const PER_LINE = 16

/** @param frame the frame without its length, which the dump includes */
export function dumpFrame(frame: Buffer, options: ExplainOptions): FrameDump {
  const length = Buffer.alloc(4)
  length.writeInt32BE(frame.length)
  const bytes = Buffer.concat([length, frame])
  const { from, op, sentence, dump } = explain(bytes, options)
  const fields = dump.split('\n').map(line => ({ at: Number.parseInt(line, 16), means: line.slice(40) }))
  const lines = fields.flatMap(({ at, means }, i) => rows(bytes, at, fields[i + 1]?.at ?? bytes.length, means))
  return { from, op, text: [sentence, '', ...lines].join('\n') }
}

/** Splits a long field into several lines. */
function rows(bytes: Buffer, at: number, end: number, means: string): string[] {
  const lines: string[] = []
  for (let from = at; from < end; from += PER_LINE) {
    const hex = bytes.toString('hex', from, Math.min(end, from + PER_LINE))
    const offset = from.toString(16).padStart(4, '0')
    lines.push(`${offset}  ${hex.padEnd(2 * PER_LINE)}  ${from === at ? means : ''}`.trimEnd())
  }
  return lines
}

/** Parses the bytes in a text of {@link dumpFrame}, and dumps them again. */
export function redumpFrame(text: string): FrameDump {
  const [sentence = '', , ...lines] = text.split('\n')
  const bytes = Buffer.from(lines.map(line => line.slice(6, 38).trimEnd()).join(''), 'hex')
  const from = sentence.startsWith('client') ? 'client' : 'server'
  const first = /^client asks for|^server gives/.test(sentence)
  const op = /^server answers #\d+ (\w+):/.exec(sentence)?.[1]
  const opcode = op !== undefined && op in opcodes ? opcodes[op as keyof typeof opcodes] : undefined
  return dumpFrame(bytes.subarray(4), { from, first, opcode })
}
