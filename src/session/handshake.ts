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
const refusalText = (err: number): string =>
  err === errnos.NOTREADONLY
    ? `the server is read-only, and opens no session unless its configuration has localSessionsEnabled=true (error ${err})`
    : `the server refused the handshake (error ${err})`

const REPLY_HEADER_BYTES = 16
const LEGACY_CONNECT_RESPONSE_BYTES = 36
const PASSWORD_BYTES = 16
/** The protocol version of a ClickHouse Keeper that has no leader. The rest looks like a session, with an id of -1. */
const REJECTED = 42

/**
 * Returns the response, or why the server refuses the handshake. A read-only server without local sessions refuses a new
 * session with a bare ReplyHeader, NOTREADONLY (ReadOnlyRequestProcessor). A refusal does not say whether a session is
 * alive.
 * @throws JuteError if the frame is neither
 */
export function readConnectResponse(reader: Reader): TypeOf<typeof ConnectResponse> | { refusal: string } {
  if (reader.remaining === REPLY_HEADER_BYTES) return { refusal: refusalText(ReplyHeader.read(reader).err) }
  const response =
    reader.remaining === LEGACY_CONNECT_RESPONSE_BYTES
      ? { ...LegacyConnectResponse.read(reader), readOnly: false }
      : ConnectResponse.read(reader)
  if (response.protocolVersion === REJECTED) return { refusal: 'the server has no leader, and opens no session' }
  // Even a server that reports the session as expired sends a password, which consists of zeros.
  if (response.passwd?.length !== PASSWORD_BYTES || (response.timeOut > 0 && response.sessionId === 0n))
    throw new JuteError('a session without an id or a password')
  return response
}
