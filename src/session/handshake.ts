// Decodes the server's first frame, in each form that servers send. Pure.
import {
  ConnectResponse,
  errnos,
  JuteError,
  LegacyConnectResponse,
  ReplyHeader,
  type Reader,
  type TypeOf,
} from '../protocol/index.ts'

/** What a refusal means, for the server's log does not say it. */
export const refusalText = (err: number): string =>
  err === errnos.NOTREADONLY
    ? `the server is read-only, and opens no session unless its configuration has localSessionsEnabled=true (error ${err})`
    : `the server refused the handshake (error ${err})`

const REPLY_HEADER_BYTES = 16
const LEGACY_CONNECT_RESPONSE_BYTES = 36
const PASSWORD_BYTES = 16

/**
 * Returns the response, or the error number of a server that refuses the handshake. A read-only server without local
 * sessions refuses a new session with a bare ReplyHeader, NOTREADONLY (ReadOnlyRequestProcessor). Such a number does
 * not say whether a session is alive.
 * @throws JuteError if the frame is neither
 */
export function readConnectResponse(reader: Reader): TypeOf<typeof ConnectResponse> | { refusedWith: number } {
  if (reader.remaining === REPLY_HEADER_BYTES) return { refusedWith: ReplyHeader.read(reader).err }
  const response =
    reader.remaining === LEGACY_CONNECT_RESPONSE_BYTES
      ? { ...LegacyConnectResponse.read(reader), readOnly: false }
      : ConnectResponse.read(reader)
  // Even a server that reports the session as expired sends a password, which consists of zeros.
  if (response.passwd?.length !== PASSWORD_BYTES || (response.timeOut > 0 && response.sessionId === 0n))
    throw new JuteError('a session without an id or a password')
  return response
}
