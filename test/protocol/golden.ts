// Frames of real clients and servers, captured by capture-golden.ts.
import { readFileSync } from 'node:fs'

/** A value as JSON: bytes as hex, integers as numbers if a double can hold them and otherwise as strings. */
export type Plain = string | number | boolean | null | Plain[] | { [field: string]: Plain }

export interface GoldenFrame {
  /** The step in which the frame was captured. */
  step: string
  from: 'client' | 'server'
  /** The opcode of the request, also in its reply; 0 for an event. Connect frames have no opcode. */
  opcode?: number
  /** The exported names of the codecs that make up the frame. */
  records: string[]
  /** The bytes of the frame without the four length bytes. */
  hex: string
  /** The values that ZooKeeper's own classes decoded, one per record. */
  told: Plain[]
}

const [, ...lines] = readFileSync(new URL('golden.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')

export const goldenFrames = lines.map(line => JSON.parse(line) as GoldenFrame)
