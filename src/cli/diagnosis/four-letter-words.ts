// Four-letter words: commands by which a server reports its state, without a session.
import type { Clock } from '../../runtime/clock.ts'
import { messageOfSystem } from '../../runtime/host-port.ts'
import { ask } from '../../transport/ask.ts'
import { dialTcp } from '../../transport/tcp.ts'
import type { Address, Dial } from '../../transport/transport.ts'

export interface AskOptions {
  /** Default: without TLS. */
  readonly dial?: Dial | undefined
  /** In milliseconds. */
  readonly timeout: number
  readonly clock: Clock
  /** The longest answer that is read, in bytes. Default: 64 KiB; that of srvr has some hundred bytes. */
  readonly longest?: number | undefined
}

/**
 * Sends the word, and returns the server's answer and how long it took, in milliseconds.
 * @throws Error whose message says why there is no whole answer within the timeout
 */
export function askFor(word: string, address: Address, options: AskOptions): Promise<{ text: string; ms: number }> {
  const { dial = dialTcp, timeout, clock, longest = 64 * 1024 } = options
  const startedAt = clock.now()
  const until = { enough: longest + 1, limit: { clock, timeout } }
  return new Promise((resolve, reject) =>
    ask(dial, address, Buffer.from(word), until, (answer, cause) => {
      if (cause !== undefined) reject(new Error(whyOf(cause), { cause }))
      else if (answer.length > longest) reject(new Error(`answers more than ${longest} bytes`))
      // A server on Windows ends its lines as Windows does.
      else resolve({ text: String(answer).replaceAll('\r\n', '\n'), ms: clock.now() - startedAt })
    }),
  )
}

/** Servers without TLS close the connection at its first byte, and Node's message says so in twelve words. */
const whyOf = (cause: Error): string =>
  'code' in cause && cause.code === 'ECONNRESET' ? 'closed the connection' : messageOfSystem(cause)
