// Frames in the form that the option `onFrame` receives.

/**
 * One frame, without its four length bytes. `explain(bytes, frame)` describes its contents in words.
 * @example
 * const sentences: string[] = []
 * const onFrame = (frame: ObservedFrame) => sentences.push(explain(frame.bytes, frame).sentence)
 * await using zk = await connect('localhost:2181', { onFrame })
 * sentences[0] // => 'client asks for a new session with a timeout of 30000 ms, having seen zxid 0x0'
 */
export interface ObservedFrame {
  /** Which side sent the frame. */
  from: 'client' | 'server'
  /** The frame, without the four bytes of its length before it. */
  bytes: Uint8Array
  /** True for the first frame of the connection in its direction: a connect request or response. */
  first: boolean
  /** The id of the session; 0 until a server has created it. */
  sessionId: bigint
}

/** Calls the option `onFrame`. The session adds its id. */
export type FrameObserver = (frame: Omit<ObservedFrame, 'sessionId'>) => void

/** Calls back for each frame of one write. Requests may follow a connect request. */
export function observeSent(observe: FrameObserver, bytes: Buffer, first: boolean): void {
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readInt32BE(at)
    observe({ from: 'client', bytes: bytes.subarray(at + 4, end), first: first && at === 0 })
    at = end
  }
}

/** Calls back with a copy, because the frame's memory is only lent. */
export function observeReceived(observe: FrameObserver, frame: Buffer, first: boolean): void {
  observe({ from: 'server', bytes: Buffer.from(frame), first })
}
