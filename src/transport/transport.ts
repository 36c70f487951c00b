// A byte stream to a server, as the session sees it. What is behind it is chosen by whoever passes `dial`.

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
export interface AcceptedTransport extends Transport {
  /** Writes what it was given, and then closes. */
  end(): void
}

/** Takes a stream that `remote` opened. It is open: what is told of it, to the handler that is returned, is what comes and its end. */
export type Accept = (transport: AcceptedTransport, remote: Address) => Omit<TransportHandler, 'opened'>

/** Why a stream could not be opened, where no other attempt at the same address will fare better until somebody mends something. */
export class FinalFailure extends Error {
  override readonly name = 'FinalFailure'
}
