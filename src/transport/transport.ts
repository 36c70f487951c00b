// Byte streams. This file has their interface. The others implement it with node:net, node:tls, cloudflare:sockets or
// memory. The caller chooses one as `dial`.
// May import: runtime, protocol/brand.ts, protocol/printable.ts.
import { brand } from '../protocol/brand.ts'
import { printable } from '../protocol/printable.ts'

/**
 * The address of a server.
 * @example
 * const addresses: Address[] = []
 * const dial: Dial = (address, handler) => {
 *   addresses.push(address)
 *   return server.dial(address, handler)
 * }
 * await using zk = await connect('[::1]', { dial })
 * addresses // => [{ host: '::1', port: 2181 }]
 */
export interface Address {
  /** A name or an IP address. An IPv6 address has no brackets. */
  host: string
  /** From 1 to 65535. */
  port: number
}

/**
 * The callbacks of a transport. After `closed` it calls none of them.
 * @example
 * const handler: TransportHandler = {
 *   opened: () => transport.write(Buffer.from('ruok')),
 *   received: chunk => {
 *     chunk.toString() // => 'imok'
 *   },
 *   closed: cause => {
 *     cause // => undefined
 *   },
 * }
 * const transport = server.dial({ host: 'localhost', port: 2181 }, handler)
 */
export interface TransportHandler {
  /** The stream is open: bytes can be written. */
  opened(): void
  /**
   * Bytes were received. The handler may use the chunk only until it returns, because the transport may then overwrite
   * it.
   */
  received(chunk: Buffer): void
  /** The stream has ended, or could not be opened. `cause` is the error, if there was one. */
  closed(cause?: Error): void
}

/**
 * An open stream, or one that is being opened.
 * @example
 * const ignore = () => undefined
 * const transport: Transport = server.dial({ host: '', port: 0 }, { opened: ignore, received: ignore, closed: ignore })
 * transport.destroy() // => undefined
 */
export interface Transport {
  /** Sends bytes. The transport owns them from now on, so the caller must not change them. */
  write(bytes: Uint8Array): void
  /**
   * Drops the stream and all bytes that are not written yet. The transport may call `closed` afterwards, but need not.
   */
  destroy(): void
}

/**
 * Opens streams. Pass your own as the option `dial`, for instance to use a proxy.
 * @example
 * let count = 0
 * const dial: Dial = (address, handler) => {
 *   count++
 *   return server.dial(address, handler)
 * }
 * await using zk = await connect('localhost:2181', { dial })
 * count // => 1
 */
export interface Dial {
  /** Starts to open a stream and returns at once. The handler is called only after this has returned. */
  (address: Address, handler: TransportHandler): Transport
  /** Detects that only one side uses TLS. If undefined, a mismatch is not reported as such. */
  readonly mismatch?: MismatchDetector
}

/**
 * Detects servers that speak the other protocol. It is used only until a server has proved that it speaks the protocol
 * of the client.
 */
export interface MismatchDetector {
  /** The message of the error that reports a mismatch. */
  readonly message: string
  /**
   * True if an open stream proves that the server speaks the protocol of the client; false if only its first reply
   * does.
   */
  readonly provenByOpening: boolean
  /** Returns true if only a server of the other protocol would send this first chunk. */
  recognizes(chunk: Buffer): boolean
  /**
   * Asks a server that closed the connection without a reply whether it speaks the other protocol. Returns undefined if
   * its address was asked before.
   * @param onResult called once, unless the probe is destroyed first
   */
  probe(address: Address, onResult: (isMismatch: boolean) => void): Transport | undefined
}

/** The server's end of a stream that a client opened. */
export interface ServerTransport extends Transport {
  /** Sends all pending bytes, then closes the stream. */
  end(): void
  /** The number of bytes written that wait because the client does not read. */
  readonly unsent: number
  /** Stops reading until `resume` is called. A few chunks may still arrive. */
  pause(): void
  resume(): void
}

/** The callbacks of a stream that a client opened. */
interface ServerTransportHandler extends Omit<TransportHandler, 'opened'> {
  /** Called when no bytes are unsent any more, if there were at least 65,536 (16,384 before Node 22). */
  drained?(): void
}

/**
 * Accepts a stream that `remote` has opened. The returned handler receives its bytes, and is called when it ends.
 * Returns undefined to refuse the stream.
 */
export type Accept = (transport: ServerTransport, remote: Address) => ServerTransportHandler | undefined

/**
 * The stream could not be opened, and further attempts at the same address will fail too until a configuration changes.
 * Pass it to `closed` of the handler. If all hosts fail so, connect() rejects with PROTOCOL at once.
 * @example
 * const dial: Dial = (address, handler) => {
 *   queueMicrotask(() => handler.closed(new PermanentError('the proxy refuses this port')))
 *   return { write: () => undefined, destroy: () => undefined }
 * }
 * await connect('localhost:2181', { dial }) // throws PROTOCOL
 */
export class PermanentError extends Error {
  static {
    brand(this, 'PermanentError')
  }
  /** The name of this class, for logs. A program should ask `instanceof`. */
  override readonly name = 'PermanentError'

  constructor(message?: string, options?: ErrorOptions) {
    super(message === undefined ? undefined : printable(message), options)
  }
}
