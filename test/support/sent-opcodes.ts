// Records which requests a client sends.
import type { ConnectOptions } from '../../src/index.ts'
import { RequestHeader } from '../../src/protocol/index.ts'

/** Returns the option `onFrame` that adds the opcode of each request to a list, except for the handshake. */
export const opcodesInto =
  (sent: number[]): NonNullable<ConnectOptions['onFrame']> =>
  ({ from, first, bytes }) => {
    if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
  }
