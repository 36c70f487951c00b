// Detects that only one side uses TLS. A ZooKeeper server then closes the connection without a reply. It also does so
// for temporary reasons (too many connections, no quorum). So the server is probed in the other protocol.
import { ask } from './ask.ts'
import { dialTcp } from './tcp.ts'
import type { Address, Dial, MismatchDetector, Transport } from './transport.ts'

interface Protocol {
  /** True if an open connection already proves that the server speaks the protocol that this client chose. */
  provenByOpening: boolean
  /** The bytes that a probe sends. Only a server of this protocol answers them. They contain nothing of a session. */
  question: Buffer
  isAnswer: (bytes: Buffer) => boolean
  /** The error message for a server that speaks this protocol although the client chose the other. */
  message: string
}

/** The question is an empty ClientHello. A TLS server rejects it with an alert: a record of type 21, version 3. */
const tls: Protocol = {
  provenByOpening: false,
  question: Buffer.from('160301000401000000', 'hex'),
  isAnswer: bytes => bytes[0] === 21 && bytes[1] === 3,
  message: 'the server speaks TLS on this port; set the option tls',
}

/**
 * A server answers the four-letter word `srvr` in printable text, even if it accepts no clients or does not allow the
 * word.
 */
const plaintext: Protocol = {
  provenByOpening: true,
  question: Buffer.from('srvr'),
  isAnswer: bytes => /^[ -~]{4}/.test(bytes.toString('latin1')),
  message: 'the server speaks plaintext on this port, but the option tls requires TLS',
}

/** Returns the plaintext dial, extended to report servers that speak TLS. Probes a host until one probe connects. */
export const detectTls = (dial: Dial): Dial => detecting(tls, dial)

/** Returns the TLS dial, extended to report servers that speak plaintext. Probes a host until one probe connects. */
export const detectPlaintext = (dial: Dial): Dial => detecting(plaintext, dial)

function detecting(protocol: Protocol, dial: Dial): Dial {
  const { provenByOpening, isAnswer, message } = protocol
  // Created when a mismatch is first suspected, because most sessions never suspect one.
  let probed: Set<string> | undefined
  const mismatch: MismatchDetector = {
    message,
    provenByOpening,
    recognizes: isAnswer,
    probe(address, onResult) {
      const key = `${address.host} ${address.port}`
      probed ??= new Set()
      return probed.has(key) ? undefined : probe(protocol, address, () => probed?.add(key), onResult)
    },
  }
  return Object.assign<Dial, Pick<Dial, 'mismatch'>>((address, handler) => dial(address, handler), { mismatch })
}

function probe(
  { question, isAnswer }: Protocol,
  address: Address,
  onReached: () => void,
  onResult: (isMismatch: boolean) => void,
): Transport {
  const dial: Dial = (to, handler) => {
    const opened = () => {
      onReached()
      handler.opened()
    }
    return dialTcp(to, { ...handler, opened })
  }
  return ask(dial, address, question, { enough: 1 }, answer => onResult(isAnswer(answer)))
}
