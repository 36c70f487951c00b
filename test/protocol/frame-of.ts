// Builds whole frames with our own codecs.
import { ReplyHeader, RequestHeader, type Encodable, type Operation } from '../../src/protocol/index.ts'

/** Prepends the four length bytes. */
export function prefixed(body: Uint8Array): Buffer {
  const frame = Buffer.alloc(4 + body.length)
  frame.writeInt32BE(body.length)
  frame.set(body, 4)
  return frame
}

export const requestFrame = <Q>(xid: number, op: Operation<Q, unknown>, body: Encodable<Q>): Buffer =>
  prefixed(Buffer.concat([RequestHeader.encode({ xid, type: op.opcode }), op.request.encode(body)]))

export const replyFrame = <R>(xid: number, op: Operation<unknown, R>, body: Encodable<R>): Buffer =>
  prefixed(Buffer.concat([ReplyHeader.encode({ xid, zxid: 0x1a2n, err: 0 }), op.response.encode(body)]))

/** A reply header, which may be a whole reply or its start. */
export const headerFrame = (xid: number, err = 0, zxid = 0x1a2n): Buffer =>
  prefixed(ReplyHeader.encode({ xid, zxid, err }))
