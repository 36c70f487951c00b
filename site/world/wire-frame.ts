// The frames on the wires of a world: what was sent, when, and whether it arrived.

export type FrameKind = 'connect' | 'request' | 'answer' | 'notification' | 'ping'

export interface WireFrame {
  /** The number of the frame, from 1, in the order in which the frames were sent. */
  readonly n: number
  /** The number of the client; 0 for the operator. */
  readonly client: number
  /** The number of the server, from 1. */
  readonly server: number
  /** The number of the connection, from 1: each attempt to connect has another one. */
  readonly connection: number
  /** `up`: from the client to the server. */
  readonly direction: 'up' | 'down'
  /** The answer to a ping is a `ping` too, and the answer to a connect request a `connect`. */
  readonly kind: FrameKind
  /** The name of the operation, such as `create`; of an answer, that of its request. `connect`, `ping` or `event` otherwise. */
  readonly op: string
  /** The xid of a request, an answer or an event. Undefined in a `connect` frame. */
  readonly xid: number | undefined
  /** The opcode of a request, and of an answer that of its request: `explain()` takes it. Undefined in other frames. */
  readonly opcode: number | undefined
  /** The number of the request that this frame answers. Undefined if it is no answer. */
  readonly answers: number | undefined
  /** Virtual milliseconds since the start. */
  readonly sentAt: number
  /** When it arrives, or would have arrived: `Infinity` while the line is unplugged or the receiver's line is full. */
  readonly arrivesAt: number
  /** When the frame was lost on its way. Undefined if it was not. */
  readonly lostAt: number | undefined
  /** The bytes on the wire, with the four bytes of the length. None if `told` is there. */
  readonly bytes: Uint8Array
  /** What a file says of a frame of which it has no bytes. */
  readonly told?: { readonly sentence: string; readonly dump: string }
}
