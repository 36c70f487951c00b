// The interface to byte streams, implemented with node:net, node:tls, cloudflare:sockets and memory. The caller chooses
// one as `dial`.
// May import: runtime.

export interface Address {
  host: string
  port: number
}

/** Receives the events of a transport. No event follows `closed`. */
export interface TransportHandler {
  opened(): void
  /** Receives bytes. The chunk is valid only until this returns; then the transport may overwrite it. */
  received(chunk: Buffer): void
  /** The stream has ended or could not be opened. `cause` is the error, if there was one. */
  closed(cause?: Error): void
}

export interface Transport {
  /** Writes the bytes. The caller must not change them afterwards. */
  write(bytes: Uint8Array): void
  /** Closes the stream at once and discards unsent bytes. `closed` may or may not follow. */
  destroy(): void
}

/** Opens a stream. It returns at once, and calls the handler only after it has returned. */
export type Dial = (address: Address, handler: TransportHandler) => Transport

/** The accepting end of a stream. */
export interface ServerTransport extends Transport {
  /** Closes the stream after all bytes are written. */
  end(): void
}

/** Accepts a stream that `remote` opened, and returns the handler of its events. The stream is already open. */
export type Accept = (transport: ServerTransport, remote: Address) => Omit<TransportHandler, 'opened'>

/** The stream could not be opened, and retrying the same address is futile until the cause is fixed. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}
