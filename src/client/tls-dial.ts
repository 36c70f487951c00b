// The dials of the option `tls`: with the same options for all connections, or with those that a function returns.
import { printable } from '../protocol/index.ts'
import { shuffledLookup, systemLookup } from '../transport/tcp.ts'
import { detectPlaintext } from '../transport/tls-mismatch.ts'
import { dialTls, type TlsOptions } from '../transport/tls.ts'
import { PermanentError, type Dial, type Transport, type TransportHandler } from '../transport/transport.ts'
import { tlsProblem } from './tls-problem.ts'

/**
 * Returns a dial with options that stay the same.
 * @throws Error if an option is invalid
 */
export function tlsDial(options: TlsOptions, random: () => number): Dial {
  const problem = tlsProblem(options)
  if (problem !== undefined) throw new Error(`tls.${problem}`)
  return detectPlaintext(dialWith(options, random))
}

/**
 * Returns a dial that asks for the options of each connection. A failure is temporary, because the next answer may be
 * better: a file may have been half written. Only a value of a wrong type is permanent.
 */
export const askingTlsDial = (ask: () => TlsOptions | Promise<TlsOptions>, random: () => number): Dial =>
  detectPlaintext((address, handler) => {
    let transport: Transport | undefined
    let isDestroyed = false
    const dial = async () => {
      const options = await ask()
      const problem = answerProblem(options)
      if (problem !== undefined) throw new PermanentError(`the function tls returned ${problem}`)
      if (!isDestroyed) transport = dialWith(options, random)(address, withoutPermanent(handler))
    }
    dial().catch((error: unknown) => {
      if (!isDestroyed) handler.closed(error instanceof PermanentError ? error : temporary('the function tls', error))
    })
    return {
      write: bytes => transport?.write(bytes),
      destroy() {
        isDestroyed = true
        transport?.destroy()
      },
    }
  })

function dialWith(options: TlsOptions, random: () => number): Dial {
  try {
    return dialTls({ ...options, lookup: options.lookup ?? shuffledLookup(systemLookup, random) })
  } catch (error) {
    // If an argument has a wrong type, the message of node:tls contains the value, which may be a passphrase.
    const { message, code = '' } = error as Error & { code?: string }
    const Failure = code.startsWith('ERR_INVALID_ARG') ? PermanentError : Error
    throw new Failure(`tls: ${message.replace(/\bReceived .*/s, '').trim()}`, { cause: error })
  }
}

function answerProblem(options: unknown): string | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return 'no options of node:tls'
  const problem = tlsProblem(options)
  return problem === undefined ? undefined : `options of which ${problem}`
}

const withoutPermanent = (handler: TransportHandler): TransportHandler => ({
  opened: () => handler.opened(),
  received: chunk => handler.received(chunk),
  closed: cause => handler.closed(cause instanceof PermanentError ? temporary('', cause) : cause),
})

/** Returns an error without a code, because the code of a file or of another service says nothing about this server. */
function temporary(by: string, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(printable(by === '' ? message : `${by}: ${message}`), { cause: error })
}
