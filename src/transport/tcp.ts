// Plain TCP through node:net; Bun, Deno and workerd have it too. The only file that knows it.
import { lookup, type LookupAddress } from 'node:dns'
import { connect, type LookupFunction, type OnReadOpts, type Socket } from 'node:net'
import { shuffle } from '../runtime/shuffle.ts'
import type { Dial, Transport, TransportHandler } from './transport.ts'

export const systemLookup: LookupFunction = lookup

export interface TcpOptions {
  /** Chooses the order of a name's addresses. Default: as they were resolved. */
  random?: () => number
  /** Default: that of the system. */
  lookup?: LookupFunction
}

/**
 * Opens TCP connections. Names are resolved anew at each call. All addresses of a name are tried, one after the other, each but the last
 * for 250 ms (node's autoSelectFamily). One that takes connections and is dead all the same would hide the others, were it always
 * the first: so their order is one of chance, which also spreads clients over a name that stands for many servers.
 */
export function tcp({ random, lookup = systemLookup }: TcpOptions = {}): Dial {
  const inOrder = random === undefined ? lookup : shuffling(lookup, random)
  return ({ host, port }, handler) => {
    const socket = connect({
      host,
      port,
      lookup: inOrder,
      autoSelectFamily: true,
      // Requests of one turn leave in one write already, so that waiting for more (Nagle) only costs time.
      noDelay: true,
      onread: isNode ? readingFor(handler) : undefined,
    })
    return new Tcp(socket, handler)
  }
}

export const dialTcp: Dial = tcp()

/** Of all runtimes only Node reads by `onread`: workerd takes the option and never reads. They say who they are; Node does from 21 on. */
const { navigator } = globalThis as { navigator?: { userAgent?: string } }
const isNode = navigator?.userAgent?.startsWith('Node.js') ?? true

/** All sockets read into the same memory: what comes is lent to the handler, which is done with it when it returns. */
let memory: Buffer | undefined
const READ_BYTES = 65_536

/** What was read last. Most of what comes is as long as what came before, and then it is the same bytes. */
let chunk: Buffer | undefined

const readingFor = (handler: TransportHandler): OnReadOpts => ({
  buffer: (memory ??= Buffer.allocUnsafeSlow(READ_BYTES)),
  callback(length, bytes) {
    if (chunk?.length !== length) chunk = (bytes as Buffer).subarray(0, length)
    handler.received(chunk)
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

// The same listeners for all sockets, each called on its own: an idle one is to hold as little as it can.

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

/** Where all addresses are asked for, which is where several are tried, they come in an order of chance. */
export const shuffling =
  (lookup: LookupFunction, random: () => number): LookupFunction =>
  (name, options, callback) =>
    lookup(name, options, (error, address: string | LookupAddress[], family) =>
      callback(error, error === null && Array.isArray(address) ? shuffle(address, random) : address, family),
    )
