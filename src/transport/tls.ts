// TLS for clients.
import { connect, createSecureContext, type TLSSocket } from 'node:tls'
import { isStrayPromise } from '../runtime/callbacks.ts'
import type { TlsConnectionOptions } from '../runtime/globals.d.ts'
import { PermanentError, type Address, type Dial } from './transport.ts'

/**
 * The options of node:tls, without the address, which comes from the connect string.
 * @example
 * const tls: TlsOptions = { servername: 'zk1.example.org', minVersion: 'TLSv1.3', rejectUnauthorized: true }
 * await connect('localhost:2181', { tls }) // throws PROTOCOL
 */
export type TlsOptions = Omit<TlsConnectionOptions, 'host' | 'port' | 'path' | 'socket'>

/**
 * Returns a dial that opens only TLS connections, of version 1.2 or later. The server's certificate must be for the
 * host in the connect string. A name must be among its DNS names, an address among its IP addresses.
 * @param options options of node:tls; `rejectUnauthorized: false`, `checkServerIdentity`, `servername` and
 * `secureContext` override the defaults set here
 * @throws Error of node:tls if a key, a certificate or a passphrase is invalid
 */
export function dialTls(options: TlsOptions): Dial {
  // node:tls lets an option that is undefined replace its default.
  const given: TlsOptions = Object.fromEntries(Object.entries(options).filter(([, value]) => value != null))
  const minVersion = given.minVersion === 'TLSv1.3' ? 'TLSv1.3' : 'TLSv1.2'
  // Created only once, so that a wrong key throws at connect(), and certificates are not parsed for each connection.
  const secureContext = given.secureContext ?? createSecureContext({ ...given, minVersion })
  const safe: TlsOptions = {
    ...given,
    ...withoutThrows(given),
    secureContext,
    // Set explicitly, because an environment variable can turn the default off (NODE_TLS_REJECT_UNAUTHORIZED).
    rejectUnauthorized: given.rejectUnauthorized !== false,
  }
  return (address, handler) => {
    let failure: Error | undefined
    const { host, port } = address
    const socket = connectOrThrow({ ...safe, host, port, ...serverNameFor(given.servername ?? host) })
    socket.setNoDelay(true)
    socket
      .on('secureConnect', () => handler.opened())
      .on('data', (chunk: Buffer) => handler.received(chunk))
      .on('error', (error: Error) => (failure = describeError(error, address)))
      .on('close', () => handler.closed(failure))
    return {
      write: bytes => void socket.write(bytes),
      destroy: () => void socket.destroy(),
    }
  }
}

/** @throws PermanentError if an option is wrong, which node:tls finds only now */
function connectOrThrow(options: TlsConnectionOptions): TLSSocket {
  try {
    return connect(options)
  } catch (error) {
    throw new PermanentError(`TLS: ${(error as Error).message}`, { cause: error })
  }
}

/** Returns the callbacks of the options. node:tls calls them where nothing catches: what they throw would end the process. */
function withoutThrows({ checkServerIdentity, pskCallback }: TlsOptions): TlsOptions {
  return {
    ...(checkServerIdentity !== undefined && {
      checkServerIdentity: (...values) => {
        try {
          return refusalOf(checkServerIdentity(...values))
        } catch (error) {
          return error instanceof Error ? error : new Error(`checkServerIdentity threw ${String(error)}`)
        }
      },
    }),
    ...(pskCallback !== undefined && {
      pskCallback: hint => {
        try {
          return pskCallback(hint)
        } catch {
          // Then the handshake fails, because there is no key.
          return null
        }
      },
    }),
  }
}

/** Returns why the caller's check refuses the certificate. node:tls takes each value that is not false for such an error. */
function refusalOf(result: unknown): Error | undefined {
  if (!result) return undefined
  if (result instanceof Error) return result
  // A promise that is rejected, and that nobody waits for, would end the process.
  const what = isStrayPromise(result) ? 'a promise' : `a ${typeof result}`
  return new Error(`checkServerIdentity must return an Error or undefined, and returned ${what}`)
}

/** Returns the server name to send: the host name without a trailing dot, or nothing for an address (RFC 6066, 3). */
function serverNameFor(host: string): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host.replace(/\.$/, '') }
}

/** Replaces OpenSSL's message, which contains source positions, by its `reason`, which says what is wrong. */
function describeError(error: Error & { code?: string; reason?: string }, { host }: Address): Error {
  const { code = '', reason = '' } = error
  // Errors of the system (ECONNREFUSED, ENOTFOUND) may be temporary. Those of OpenSSL, node:tls or the caller's check
  // are permanent.
  if (/^E(?!RR|PROTO)[A-Z_]+$/.test(code)) return error
  const because = (what: string) => new PermanentError(`TLS: ${what}`, { cause: error })
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return because(`the certificate is not for ${host}: ${reason}`)
  if (CLIENT_CERTIFICATE.test(reason))
    return because(`the server requires a client certificate, or a different one (${reason})`)
  if (NO_TLS.test(code)) return because('the server does not speak TLS on this port')
  return because(reason || error.message)
}

const CLIENT_CERTIFICATE =
  /alert (bad certificate|certificate|unknown ca|unsupported certificate|no certificate|access denied)/
const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|HTTP_REQUEST|UNKNOWN_PROTOCOL|PACKET_LENGTH_TOO_LONG)$/
