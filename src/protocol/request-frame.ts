// Encodes a request as one frame: four length bytes, the header, the body.
import type { Encodable } from './codec.ts'
import type { Operation } from './operation.ts'
import type { Writer } from './writer.ts'

/**
 * Appends one request frame to the writer. If it throws, nothing is appended.
 * @param maxBytes longest frame allowed, in bytes, without its four length bytes
 * @throws JuteError if a string has no UTF-8 form
 * @throws RangeError if the frame is longer than `maxBytes`
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.sync, { path: '/a' }, 1024)
 * writer.take().toString('hex') // => '0000000e0000000100000009000000022f61'
 */
export function encodeRequest<Q>(
  writer: Writer,
  xid: number,
  op: Operation<Q, unknown>,
  body: Encodable<Q>,
  maxBytes: number,
): void {
  const before = writer.pending
  try {
    writer.int(0)
    writer.int(xid)
    writer.int(op.opcode)
    op.request.write(writer, body)
    writer.endFrame(before, maxBytes)
  } catch (error) {
    writer.truncate(before)
    throw error
  }
}
