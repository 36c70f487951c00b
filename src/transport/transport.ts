// Byte streams: this interface, and node:net, node:tls, cloudflare:sockets and memory behind it. The caller chooses one as `dial`.
// May import: runtime.

export interface Address {
  host: string
  port: number
}

/** What a transport tells. After `closed` it tells nothing more. */
export interface TransportHandler {
  opened(): void
  /** The chunk is lent until this returns: then the transport may write into it again. */
  received(chunk: Buffer): void
  /** The stream is over, or could not be opened. `cause` says why, where there was a failure. */
  closed(cause?: Error): void
}

export interface Transport {
  /** Takes the bytes over: the caller does not change them. */
  write(bytes: Uint8Array): void
  /** Drops the stream and what was not yet written. `closed` may follow or not. */
  destroy(): void
}

/** Opens a stream. It returns at once; the handler hears of what comes of it, and not before `dial` has returned. */
export type Dial = (address: Address, handler: TransportHandler) => Transport

/** The end of a stream that somebody else opened. */
export interface ServerTransport extends Transport {
  /** Writes what it was given, and then closes. */
  end(): void
}

/** Takes a stream that `remote` opened. It is open: what is told of it, to the handler that is returned, is what comes and its end. */
export type Accept = (transport: ServerTransport, remote: Address) => Omit<TransportHandler, 'opened'>

/** Why a stream could not be opened, where no other attempt at the same address will fare better until somebody mends something. */
export class PermanentError extends Error {
  override readonly name = 'FinalFailure'
}
