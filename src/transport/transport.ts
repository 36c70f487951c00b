// Byte streams: this interface, and node:net, node:tls, cloudflare:sockets and memory behind it. The caller chooses one as `dial`.
// May import: runtime.

export interface Address {
  host: string
  port: number
}

/** What a transport reports. After `closed` it reports nothing more. */
export interface TransportHandler {
  opened(): void
  /** The handler may use the chunk until it returns: after that the transport may overwrite it. */
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
  /** What the user reads after a mismatch. */
  readonly message: string
  /** True if `opened` already is that proof; false if only the first reply is. */
  readonly provenByOpening: boolean
  /** True if only a server of the other protocol sends such bytes first. */
  recognizes(chunk: Buffer): boolean
  /**
   * Asks a server that closed the connection without a reply. Returns undefined if its address was asked before.
   * @param onResult called once, unless the probe is destroyed first
   */
  probe(address: Address, onResult: (isMismatch: boolean) => void): Transport | undefined
}

/** The server's end of a stream that a client opened. */
export interface ServerTransport extends Transport {
  /** Writes what is pending, then closes. */
  end(): void
}

/** Accepts a stream that `remote` has opened. The returned handler gets its bytes and its end. */
export type Accept = (transport: ServerTransport, remote: Address) => Omit<TransportHandler, 'opened'>

/** A failure to open a stream that no later attempt at the same address can mend, until somebody changes a configuration. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}
