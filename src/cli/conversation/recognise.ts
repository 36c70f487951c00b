// Recognises a frame in the middle of a stream, by its header and, as far as its bytes are there, by its body.
import { errnos, explain, opcodes, xids } from '../../protocol/index.ts'
import { LONGEST_SEARCH } from './frame-stream.ts'

export type End = 'client' | 'server'

/** What the conversation so far says about the next frame of an end. */
export interface Expectation {
  /** Returns the opcode of a request in flight. */
  opcodeOf: (xid: number) => number | undefined
  /** The zxid of the last reply, or undefined if there was none. */
  lastZxid: bigint | undefined
  /** True if the frame may be the first one on the connection. */
  mayBeFirst: boolean
}

/** Length, xid and opcode. */
const REQUEST_START = 12
/** Length, xid, zxid and error. */
const REPLY_START = 20
/** A connect request or response starts with the protocol version after its length. */
const CONNECT_START = 8

const requestOpcodes = new Set<number>(Object.values(opcodes))
const errors = new Set<number>([0, ...Object.values(errnos)])

/** How much a zxid may grow between two replies. A new leader adds 2^32. */
const ZXID_STEP = 2n ** 40n

/**
 * Returns how many bytes from the offset on must be there to tell whether a frame of this end starts at it; 0 if none can.
 */
export function neededAt(from: End, bytes: Buffer, at: number, expected: Expectation): number {
  const available = bytes.length - at
  if (!couldStart(bytes, at)) return 0
  if (available < CONNECT_START) return CONNECT_START
  const length = 4 + bytes.readInt32BE(at)
  if (mayBeConnect(bytes, at, expected)) return length
  const header = Math.min(startOf(from), length)
  if (available < header) return header
  // The header alone does not suffice: bytes within a frame can look like the header of a longer one.
  return isHeader(from, bytes, at, expected) ? length : 0
}

/** True if a frame of this end starts at the offset. The bytes that {@link neededAt} demands must be there. */
export function isFrameAt(from: End, bytes: Buffer, at: number, expected: Expectation): boolean {
  const end = at + 4 + bytes.readInt32BE(at)
  const frame = bytes.subarray(at, end)
  if (mayBeConnect(bytes, at, expected) && explain(frame, { from, first: true }).op === 'connect') return true
  if (!isHeader(from, bytes, at, expected)) return false
  const opcode = from === 'client' ? frame.readInt32BE(8) : expected.opcodeOf(frame.readInt32BE(4))
  const explanation = explain(frame, { from, first: false, opcode })
  // A request without an operation is one that cannot be read.
  if (explanation.from !== from || (from === 'client' && explanation.op === '')) return false
  if (bytes.length - end < startOf(from)) return end === bytes.length || couldStart(bytes, end)
  return isHeader(from, bytes, end, expected)
}

const mayBeConnect = (bytes: Buffer, at: number, { mayBeFirst }: Expectation): boolean =>
  mayBeFirst && bytes.readInt32BE(at + 4) === 0

const startOf = (from: End) => (from === 'client' ? REQUEST_START : REPLY_START)

const isHeader = (from: End, bytes: Buffer, at: number, expected: Expectation): boolean =>
  couldStart(bytes, at) && (from === 'client' ? isRequest(bytes, at) : isReply(bytes, at, expected))

/** Checks the bytes of the length that are there. */
function couldStart(bytes: Buffer, at: number): boolean {
  if (bytes.length - at < 4) return bytes[at] === 0
  const length = bytes.readInt32BE(at)
  return length >= 8 && length <= LONGEST_SEARCH - 4
}

function isRequest(bytes: Buffer, at: number): boolean {
  const length = bytes.readInt32BE(at)
  if (length < REQUEST_START - 4) return false
  const [xid, opcode] = [bytes.readInt32BE(at + 4), bytes.readInt32BE(at + 8)]
  if (xid === xids.ping) return opcode === opcodes.ping && length === 8
  if (xid === xids.auth) return opcode === opcodes.auth
  if (xid === xids.setWatches) return opcode === opcodes.setWatches || opcode === opcodes.setWatches2
  return xid >= 0 && opcode !== opcodes.ping && opcode !== opcodes.notification && requestOpcodes.has(opcode)
}

function isReply(bytes: Buffer, at: number, { opcodeOf, lastZxid }: Expectation): boolean {
  const length = bytes.readInt32BE(at)
  if (length < REPLY_START - 4 || bytes.length - at < REPLY_START) return false
  const [xid, zxid, error] = [bytes.readInt32BE(at + 4), bytes.readBigInt64BE(at + 8), bytes.readInt32BE(at + 16)]
  if (!errors.has(error)) return false
  if (xid === xids.notification) return error === 0 && length > REPLY_START
  if (xid !== xids.ping && xid !== xids.auth && xid !== xids.setWatches && xid < 0) return false
  // Zeros are frequent in data.
  if (xid === 0 && opcodeOf(0) === undefined) return false
  if (error !== 0 && length !== REPLY_START - 4) return false
  // A reply to a request that was seen is certain enough; others must continue the zxids.
  if (xid > 0 && opcodeOf(xid) === undefined && lastZxid === undefined) return zxid > 0n && zxid < 2n ** 62n
  return zxid === 0n || lastZxid === undefined || (zxid >= lastZxid - ZXID_STEP && zxid <= lastZxid + ZXID_STEP)
}
