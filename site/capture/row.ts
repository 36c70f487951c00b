// Files of a reader's disk as a world that the playground shows: captures, traces, and what the judge has found. This
// file: the lines that all of them consist of.
// May import: site/world, src/cli/capture, src/cli/conversation, src/protocol/entry.ts.
import type { ToldLine } from '../../src/cli/conversation/told-line.ts'

/** One line of a file. */
export interface Row extends Omit<ToldLine, 'bytes'> {
  /** Since the start of the file. */
  readonly seconds: number
  /** The number of the connection. Undefined if the line is about none. */
  readonly connection?: number | undefined
  /** The whole frame, with its length. Undefined if the file does not have it. */
  readonly bytes?: Uint8Array | undefined
  /** The number of a copy of the program that the judge has started, from 1. */
  readonly copy?: number | undefined
  /** What the copy has printed, or what the judge has done to it. */
  readonly says?: string | undefined
  readonly judge?: string | undefined
  /** The copies that hold the lock after that. */
  readonly holders?: readonly number[] | undefined
}

/** The lines of a file, and what the file says as a whole. */
export interface Rows {
  readonly rows: readonly Row[]
  /** Sentences about the file. */
  readonly about: readonly string[]
  /** True if the reader stopped before the end of the file. */
  readonly isCut: boolean
}

/** Reads one kind of file. */
export interface FileReader {
  /** How many frames were read. */
  readonly frames: number
  /** @throws FileError if the bytes cannot be read */
  push(bytes: Buffer): void
  /**
   * Nothing more is pushed.
   * @param isCut true if the reader stopped before the end of the file, which then lacks nothing
   */
  end(isCut: boolean): Omit<Rows, 'isCut'>
}

/** Why a file cannot be opened, as a sentence for the reader. */
export class FileError extends Error {}
