// Byte streams through node:net, node:tls, cloudflare:sockets or memory. The caller chooses one with the option `dial`.
// This file: their interface.
// May import: runtime.

export interface Address {
  host: string
  port: number
}

/** Receives the events of a transport. `closed` is the last one. */
export interface TransportHandler {
  opened(): void
  /** The chunk is valid only until the handler returns, because the transport may overwrite it then. */
  received(chunk: Buffer): void
  /** The stream has ended, or could not be opened. `cause` is given if there was a failure. */
  closed(cause?: Error): void
}

export interface Transport {
  /** The transport owns the bytes from now on: the caller must not change them. */
  write(bytes: Uint8Array): void
  /** Drops the stream and all bytes not yet written. `closed` may follow or not. */
  destroy(): void
}

/** Opens a stream. */
export interface Dial {
  /** Returns at once. The handler is called later, never before this has returned. */
  (address: Address, handler: TransportHandler): Transport
  /** Detects that only one side speaks TLS. A dial without it reports no mismatch. */
  readonly mismatch?: MismatchDetector
}

/** Consulted only until a server has proved that it speaks the protocol of the client. */
export interface MismatchDetector {
  /** The message of the error after a mismatch. */
  readonly message: string
  /** True if the call of `opened` is that proof, false if only the first reply is. */
  readonly provenByOpening: boolean
  /** Returns true if the server's first bytes show that it speaks the other protocol. */
  recognizes(chunk: Buffer): boolean
  /**
   * Asks a server that closed the connection without a reply. Returns undefined if its address was asked before.
   * @param onResult called once, unless the probe is destroyed first
   */
  probe(address: Address, onResult: (isMismatch: boolean) => void): Transport | undefined
}

/** The server's end of a stream that a client opened. */
export interface ServerTransport extends Transport {
  /** Writes the pending bytes, then closes the stream. */
  end(): void
}

/** Accepts a stream that `remote` has opened. The returned handler gets its bytes and its end. */
export type Accept = (transport: ServerTransport, remote: Address) => Omit<TransportHandler, 'opened'>

/** A failure to open a stream. Later attempts at the same address fail too, until a configuration is changed. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}
