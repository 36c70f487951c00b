// A frame, field by field.
import { explanationOf } from '../../world/wire-frame-words.ts'
import type { WireFrame } from '../../world/wire-frame.ts'

export interface FieldLine {
  /** In hex, from the first byte of the frame. */
  offset: string
  hex: string
  name: string
  value: string
}

export interface ExplainedFrame {
  sentence: string
  fields: FieldLine[]
}

export function explained(frame: WireFrame): ExplainedFrame {
  const { sentence, dump } = explanationOf(frame)
  return { sentence, fields: dump === '' ? [] : dump.split('\n').map(fieldOf) }
}

/** Reads a line of a dump: the offset, the bytes in 32 columns, then the name and the value. */
function fieldOf(line: string): FieldLine {
  const rest = line.slice(40)
  const name = /^\S*/.exec(rest)?.[0] ?? ''
  return { offset: line.slice(0, 4), hex: line.slice(6, 38).trim(), name, value: rest.slice(name.length).trim() }
}
