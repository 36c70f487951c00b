// The first frame of a client, and the reply to it. Clients before 3.4 neither send nor expect `readOnly`.
import {
  ConnectResponse,
  LegacyConnectRequest,
  LegacyConnectResponse,
  type Reader,
  type Writer,
} from '../../protocol/index.ts'
import type { ServerSession } from '../database/sessions.ts'

/** What a client asks for in its first frame. */
export interface Handshake {
  /** The session to continue; 0 for a new one. */
  readonly sessionId: bigint
  readonly passwd: Buffer | null
  /** The requested session timeout in milliseconds. */
  readonly timeOut: number
  readonly lastZxidSeen: bigint
  /** True if the client accepts a server that executes no writes. */
  readonly acceptsReadOnly: boolean
  /** True if the client is older than 3.4. */
  readonly isLegacy: boolean
}

/** @throws JuteError if the frame is malformed */
export function readHandshake(reader: Reader): Handshake {
  const request = LegacyConnectRequest.read(reader)
  const isLegacy = reader.remaining === 0
  return { ...request, isLegacy, acceptsReadOnly: !isLegacy && reader.bool() }
}

/** @param session undefined if the client's session has ended */
export function writeHandshakeReply(
  writer: Writer,
  session: ServerSession | undefined,
  readOnly: boolean,
  isLegacy: boolean,
): void {
  const { id, timeout, password } = session ?? { id: 0n, timeout: 0, password: Buffer.alloc(16) }
  const response = { protocolVersion: 0, timeOut: timeout, sessionId: id, passwd: password, readOnly }
  if (isLegacy) LegacyConnectResponse.write(writer, response)
  else ConnectResponse.write(writer, response)
}
