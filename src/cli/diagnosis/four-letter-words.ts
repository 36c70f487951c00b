// Four-letter words: commands by which a server reports its state, without a session.
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../runtime/clock.ts'
import { messageOfSystem } from '../../runtime/host-port.ts'
import type { TlsOptions } from '../../transport/tls.ts'
import type { Address } from '../../transport/transport.ts'

/** What a server answers on its port. */
export type Answer =
  | { readonly is: 'text'; readonly text: string; readonly ms: number }
  /** Nothing answers, or the answer is no ZooKeeper's. */
  | { readonly is: 'failure'; readonly why: string }

export interface AskOptions {
  /** Options of node:tls; undefined for plaintext. */
  readonly tls: TlsOptions | undefined
  /** In milliseconds. */
  readonly timeout: number
  readonly clock: Clock
  /** The longest answer that is read, in bytes. Default: 64 KiB; that of srvr has some hundred bytes. */
  readonly longest?: number | undefined
}

/** Sends the word and returns the server's answer. It must come as a whole within the timeout. */
export function ask({ host, port }: Address, word: string, options: AskOptions): Promise<Answer> {
  const { tls, timeout, clock, longest = 64 * 1024 } = options
  return new Promise(resolve => {
    const startedAt = clock.now()
    const chunks: Buffer[] = []
    let length = 0
    const onOpen = () => void socket.write(word)
    const socket = tls === undefined ? connectTcp({ host, port }, onOpen) : connectTls({ ...tls, host, port }, onOpen)
    const end = (answer: Answer) => {
      clock.clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = clock.setTimeout(() => {
      const what = length === 0 ? 'silent' : 'has not ended its answer'
      end({ is: 'failure', why: `${what} for ${timeout / 1000} s` })
    }, timeout)
    socket.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > longest) end({ is: 'failure', why: `answers more than ${longest} bytes` })
      else chunks.push(chunk)
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      // Servers without TLS close the connection at its first byte, and Node's message says so in twelve words.
      end({ is: 'failure', why: error.code === 'ECONNRESET' ? 'closed the connection' : messageOfSystem(error) }),
    )
    socket.on('close', () => {
      // A server on Windows ends its lines as Windows does.
      const text = String(Buffer.concat(chunks)).replaceAll('\r\n', '\n')
      end({ is: 'text', text, ms: clock.now() - startedAt })
    })
  })
}
