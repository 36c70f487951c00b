// A line of a conversation as JSON, which the playground reads again.
import type { Explanation } from '../../protocol/index.ts'
import type { Line } from './conversation.ts'

/** A line as JSON. Only a line about a frame has `from`, `op` and `xid`, and only one about its connection the rest. */
export interface ToldLine {
  readonly sentence: string
  readonly from?: Explanation['from'] | undefined
  readonly op?: string | undefined
  readonly xid?: number | undefined
  /** The bytes field by field, and in hex with zeros in place of credentials: only if the user wants them. */
  readonly dump?: string | undefined
  readonly bytes?: string | undefined
  /** The ends of a connection that is open, and whether it was so before. */
  readonly client?: string | undefined
  readonly server?: string | undefined
  readonly joined?: true | undefined
  readonly closed?: true | undefined
}

/** @param hasBytes true if the bytes of the frame are told too */
export function toldLineOf({ sentence, dump, frame, bytes, ends, isClosed }: Line, hasBytes: boolean): ToldLine {
  return {
    ...frame,
    sentence,
    dump: hasBytes && dump !== '' ? dump : undefined,
    bytes: hasBytes && bytes !== undefined ? withoutCredentials(bytes, dump).toString('hex') : undefined,
    client: ends?.client,
    server: ends?.server,
    joined: ends?.isJoined === true ? true : undefined,
    closed: isClosed === true ? true : undefined,
  }
}

/** Where the bytes are in a line of a dump, after the offset. */
const BYTES = { from: 6, to: 38 }
/** The length of a string or a buffer, which stands before it. */
const LENGTH = 4

/** Puts zeros where the dump leaves the bytes out. The lengths of fields stay, so that the frame can be read. */
function withoutCredentials(bytes: Buffer, dump: string): Buffer {
  const copy = Buffer.from(bytes)
  const lines = dump.split('\n')
  const offsetOf = (line: string | undefined) => (line === undefined ? copy.length : parseInt(line, 16))
  for (const [i, line] of lines.entries()) {
    if (line.slice(BYTES.from, BYTES.to).trim() !== '') continue
    const isField = !line.slice(BYTES.to).trimStart().startsWith('rest')
    copy.fill(0, offsetOf(line) + (isField ? LENGTH : 0), offsetOf(lines[i + 1]))
  }
  return copy
}
