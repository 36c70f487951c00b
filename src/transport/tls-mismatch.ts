// TLS here and plaintext there, or the reverse. ZooKeeper's servers then close without a word, as they also do for reasons that pass
// (too many connections, no quorum): so the server is asked, in the other language, whether it speaks that.
import type { Address, Dial, Transport, TransportHandler } from './transport.ts'
import { PermanentError } from './transport.ts'
import { dialTcp } from './tcp.ts'

interface Probe {
  /** A connection that is opened has been spoken to in the language that was guessed. */
  openedIsProof: boolean
  /** What only a server that speaks it answers to. Nothing of a session is in it. */
  question: Buffer
  isAnswer: (bytes: Buffer) => boolean
  /** What a wrong guess of ours is called. */
  message: string
}

/** An empty ClientHello, which is refused with an alert: a record of type 21, version 3. */
const tls: Probe = {
  openedIsProof: false,
  question: Buffer.from('160301000401000000', 'hex'),
  isAnswer: bytes => bytes[0] === 21 && bytes[1] === 3,
  message: 'the server speaks TLS on this port: see the option tls',
}

/** A four-letter word: `srvr` is answered in readable text also by a server that serves nobody, or does not allow the word. */
const plaintext: Probe = {
  openedIsProof: true,
  question: Buffer.from('srvr'),
  isAnswer: bytes => /^[ -~]{4}/.test(bytes.toString('latin1')),
  message: 'the server speaks plaintext on this port, and TLS was asked for',
}

/** A dial that tells a server which speaks TLS from one that will not talk. Each address is asked once. */
export const detectTls = (dial: Dial): Dial => detecting(tls, dial)

/** A dial that tells a server which speaks plaintext from one that will not talk. Each address is asked once. */
export const detectPlaintext = (dial: Dial): Dial => detecting(plaintext, dial)

function detecting(language: Probe, dial: Dial): Dial {
  const inquiry: Shared = { language, dial }
  return (address, handler) => new MismatchDetector(inquiry, address, handler)
}

/** What the streams of one dial have in common. */
interface Shared {
  readonly language: Probe
  readonly dial: Dial
  /** Addresses; none in the good case. */
  asked?: Set<string>
}

/** Stands between a stream and its handler until it is known what the server speaks. */
class MismatchDetector implements Transport, TransportHandler {
  readonly #inquiry: Shared
  readonly #address: Address
  readonly #handler: TransportHandler
  #transport: Transport
  #isOver = false
  #isProven = false

  constructor(inquiry: Shared, address: Address, handler: TransportHandler) {
    this.#inquiry = inquiry
    this.#address = address
    this.#handler = handler
    this.#transport = inquiry.dial(address, this)
  }

  write(bytes: Uint8Array): void {
    this.#transport.write(bytes)
  }

  destroy(): void {
    this.#isOver = true
    this.#transport.destroy()
  }

  opened(): void {
    this.#isProven = this.#inquiry.language.openedIsProof
    this.#handler.opened()
  }

  received(chunk: Buffer): void {
    if (this.#isOver) return
    // Some servers of TLS do answer whoever speaks none.
    if (!this.#isProven && this.#inquiry.language.isAnswer(chunk)) return this.#report()
    this.#isProven = true
    this.#handler.received(chunk)
  }

  closed(cause?: Error): void {
    if (this.#isOver) return
    if (this.#isProven || !closedSilently(cause)) return this.#end(cause)
    const key = `${this.#address.host} ${this.#address.port}`
    const asked = (this.#inquiry.asked ??= new Set())
    if (asked.has(key)) return this.#end(cause)
    this.#transport = probe(this.#address, this.#inquiry.language, {
      reached: () => asked.add(key),
      answered: isTheirs => (isTheirs ? this.#report(cause) : this.#end(cause)),
    })
  }

  #report(cause?: Error): void {
    this.#end(new PermanentError(this.#inquiry.language.message, { cause }))
  }

  #end(cause?: Error): void {
    if (this.#isOver) return
    this.destroy()
    this.#handler.closed(cause)
  }
}

/** The end of a connection that was there. */
const closedSilently = (cause: (Error & { code?: string }) | undefined): boolean =>
  cause === undefined || cause.code === 'ECONNRESET' || cause.code === 'EPIPE'

function probe(
  address: Address,
  { question, isAnswer }: Probe,
  { reached, answered }: { reached: () => void; answered: (isTheirs: boolean) => void },
): Transport {
  let isTheirs = false
  const transport = dialTcp(address, {
    opened: () => {
      reached()
      transport.write(question)
    },
    received: bytes => {
      isTheirs ||= isAnswer(bytes)
      transport.destroy()
    },
    closed: () => answered(isTheirs),
  })
  return transport
}
