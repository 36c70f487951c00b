// Frames in the form that the option `onFrame` receives.

/** One frame, without its four length bytes. `explain(bytes, frame)` describes its contents in words. */
export interface ObservedFrame {
  from: 'client' | 'server'
  bytes: Uint8Array
  /** True for the first frame of the connection in its direction: a connect request or response. */
  first: boolean
  /** The id of the session; 0 until a server has created it. */
  sessionId: bigint
}

/** Receives frames without the id of the session, which the session adds. */
export type OnFrame = (frame: Omit<ObservedFrame, 'sessionId'>) => void

/** Calls back for each frame of one write. */
export function observeSent(onFrame: OnFrame, bytes: Buffer, first: boolean): void {
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readInt32BE(at)
    onFrame({ from: 'client', bytes: bytes.subarray(at + 4, end), first })
    at = end
  }
}

/** Calls back with a copy, because the memory of the frame will be reused. */
export function observeReceived(onFrame: OnFrame, frame: Buffer, first: boolean): void {
  onFrame({ from: 'server', bytes: Buffer.from(frame), first })
}
