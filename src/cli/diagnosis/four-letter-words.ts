// Four-letter words: commands by which a server reports its state, without a session.
import type { Clock } from '../../runtime/clock.ts'
import { messageOfSystem } from '../../runtime/host-port.ts'
import { ask } from '../../transport/ask.ts'
import { dialTcp } from '../../transport/tcp.ts'
import type { Address, Dial } from '../../transport/transport.ts'

/** What a server answers on its port. */
export type Answer =
  | { readonly is: 'text'; readonly text: string; readonly ms: number }
  /** Nothing answers, or the answer is no ZooKeeper's. */
  | { readonly is: 'failure'; readonly why: string }

export interface AskOptions {
  /** Default: without TLS. */
  readonly dial?: Dial | undefined
  /** In milliseconds. */
  readonly timeout: number
  readonly clock: Clock
  /** The longest answer that is read, in bytes. Default: 64 KiB; that of srvr has some hundred bytes. */
  readonly longest?: number | undefined
}

/** Sends the word and returns the server's answer. It must come as a whole within the timeout. */
export function askFor(word: string, address: Address, options: AskOptions): Promise<Answer> {
  const { dial = dialTcp, timeout, clock, longest = 64 * 1024 } = options
  const startedAt = clock.now()
  const question = { bytes: Buffer.from(word), enough: longest + 1, limit: { clock, timeout } }
  return new Promise(resolve =>
    ask(dial, address, question, (answer, cause) => {
      if (cause !== undefined) resolve({ is: 'failure', why: failureOf(cause) })
      else if (answer.length > longest) resolve({ is: 'failure', why: `answers more than ${longest} bytes` })
      // A server on Windows ends its lines as Windows does.
      else resolve({ is: 'text', text: String(answer).replaceAll('\r\n', '\n'), ms: clock.now() - startedAt })
    }),
  )
}

/** Servers without TLS close the connection at its first byte, and Node's message says so in twelve words. */
const failureOf = (cause: Error): string =>
  'code' in cause && cause.code === 'ECONNRESET' ? 'closed the connection' : messageOfSystem(cause)
