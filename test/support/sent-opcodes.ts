// Observes which requests a client sends.
import type { ConnectOptions } from '../../src/index.ts'
import { RequestHeader } from '../../src/protocol/index.ts'

type OnFrame = NonNullable<ConnectOptions['onFrame']>

export interface SentRequest {
  readonly opcode: number
  /** The record behind the header. */
  readonly body: Uint8Array
  readonly sessionId: bigint
}

const HEADER_BYTES = 8

/** Returns the option `onFrame` that calls back for each request with this opcode, and for none of the handshake. */
export const onRequest =
  (kind: number | 'any', onEach: (request: SentRequest) => unknown): OnFrame =>
  ({ from, first, bytes, sessionId }) => {
    if (from !== 'client' || first) return
    const { type: opcode } = RequestHeader.decode(bytes)
    if (kind === 'any' || kind === opcode) onEach({ opcode, body: bytes.subarray(HEADER_BYTES), sessionId })
  }

/** Returns the option `onFrame` that adds the opcode of each request to a list, except for the handshake. */
export const opcodesInto = (sent: number[]): OnFrame => onRequest('any', ({ opcode }) => sent.push(opcode))
