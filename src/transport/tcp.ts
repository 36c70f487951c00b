// TCP without TLS, through node:net, which Bun, Deno and workerd have too. A session connects by it.
import { lookup, type LookupAddress } from 'node:dns'
import { connect, type LookupFunction, type OnReadOpts, type Socket } from 'node:net'
import { shuffle } from '../runtime/shuffle.ts'
import type { Dial, Transport, TransportHandler } from './transport.ts'

export const systemLookup: LookupFunction = lookup

export interface TcpOptions {
  /**
   * Returns a random number in [0, 1). If set, the addresses of a name are tried in random order. Default: in the order
   * in which they were resolved.
   */
  random?: (() => number) | undefined
  /** Resolves names. Default: the system's resolver. */
  lookup?: LookupFunction | undefined
}

/**
 * Returns a dial that opens TCP connections. It resolves names at every call. It tries the addresses of a name in turn,
 * each but the last for 250 ms (Node's autoSelectFamily). With `random` the order is random, which spreads clients over
 * the servers of one name. Even if one of these servers accepts connections but does not respond, later attempts then
 * reach the others.
 */
export function tcp({ random, lookup = systemLookup }: TcpOptions = {}): Dial {
  const orderedLookup = random === undefined ? lookup : shuffledLookup(lookup, random)
  return ({ host, port }, handler) => {
    const socket = connect({
      host,
      port,
      lookup: orderedLookup,
      autoSelectFamily: true,
      // Disables Nagle's algorithm: the requests of one turn are already one write, so waiting for more only delays
      // them.
      noDelay: true,
      onread: isNode ? readOptionsFor(handler) : undefined,
    })
    return new Tcp(socket, handler)
  }
}

export const dialTcp: Dial = tcp()

// Only Node reads through `onread`; workerd accepts the option but never reads. Bun, Deno and workerd set
// navigator.userAgent. Node sets it only from version 21 on, so a missing one means Node.
const { navigator } = globalThis as { navigator?: { userAgent?: string } }
const isNode = navigator?.userAgent?.startsWith('Node.js') ?? true

/** The buffer that all sockets read into. A handler may use it only until it returns. */
let readBuffer: Buffer | undefined
const READ_BYTES = 65_536

/**
 * The last chunk, a view of the start of the buffer. It is reused if the next read has the same length, as most reads
 * do.
 */
let lastChunk: Buffer | undefined

const readOptionsFor = (handler: TransportHandler): OnReadOpts => ({
  buffer: (readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES)),
  callback(length, bytes) {
    if (lastChunk?.length !== length) lastChunk = (bytes as Buffer).subarray(0, length)
    handler.received(lastChunk)
    return true
  },
})

const TRANSPORT = Symbol('transport')
type TcpSocket = Socket & { [TRANSPORT]: Tcp }

class Tcp implements Transport {
  readonly #socket: Socket
  readonly handler: TransportHandler
  failure: Error | undefined

  constructor(socket: Socket, handler: TransportHandler) {
    this.#socket = Object.assign(socket, { [TRANSPORT]: this })
    this.handler = handler
    socket.on('connect', onConnect).on('error', onError).on('close', onClose)
    if (!isNode) socket.on('data', onData)
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

// All sockets share these listeners, so that an idle socket uses little memory. Node calls them with the socket as
// `this`.

function onConnect(this: TcpSocket): void {
  this[TRANSPORT].handler.opened()
}

function onData(this: TcpSocket, chunk: Buffer): void {
  this[TRANSPORT].handler.received(chunk)
}

function onError(this: TcpSocket, error: Error): void {
  this[TRANSPORT].failure = error
}

function onClose(this: TcpSocket): void {
  const { handler, failure } = this[TRANSPORT]
  handler.closed(failure)
}

/**
 * Shuffles the result of a lookup that asks for all addresses. node:net asks for all of them if autoSelectFamily is
 * set.
 */
export const shuffledLookup =
  (lookup: LookupFunction, random: () => number): LookupFunction =>
  (name, options, callback) =>
    lookup(name, options, (error, address: string | LookupAddress[], family) =>
      callback(error, error === null && Array.isArray(address) ? shuffle(address, random) : address, family),
    )
