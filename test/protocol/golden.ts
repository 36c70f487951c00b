// Frames of real clients and servers, captured by capture-golden.ts.
import { readFileSync } from 'node:fs'

/** A value as JSON can hold it: bytes as hex; whole numbers as numbers where a double holds them, otherwise as text. */
export type Plain = string | number | boolean | null | Plain[] | { [field: string]: Plain }

export interface GoldenFrame {
  /** What was being done. */
  step: string
  from: 'client' | 'server'
  /** Of the request, or of the request that is answered; 0 of an event. Connect frames have none. */
  opcode?: number
  /** The codecs that fill the frame, by their exported names. */
  records: string[]
  /** Without the four length bytes. */
  hex: string
  /** What ZooKeeper's own classes read in it, one for each record. */
  told: Plain[]
}

const [, ...lines] = readFileSync(new URL('golden.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')

export const goldenFrames = lines.map(line => JSON.parse(line) as GoldenFrame)
