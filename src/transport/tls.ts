// TLS through node:tls. The only file that knows it.
import { connect, createSecureContext, type ConnectionOptions } from 'node:tls'
import { PermanentError, type Address, type Dial } from './transport.ts'

/** What node:tls takes, apart from where to connect: that is the connect string's to say. */
export type TlsOptions = Omit<ConnectionOptions, 'host' | 'port' | 'path' | 'socket'>

/**
 * A dial that opens TLS connections, of version 1.2 at least, and never any others. The server's certificate must be for the host as
 * the connect string names it: a name among its DNS names, an address among its IP addresses.
 * @param options of node:tls; `rejectUnauthorized: false`, a `checkServerIdentity`, a `servername` or a `secureContext` of its own
 * take the place of what is done here
 * @throws Error of node:tls where a key, a certificate or a passphrase is not right
 */
export function dialTls(options: TlsOptions): Dial {
  const minVersion = options.minVersion === 'TLSv1.3' ? 'TLSv1.3' : 'TLSv1.2'
  // Once: a wrong key is told at connect(), and no connection costs the parsing of all certificates.
  const secureContext = options.secureContext ?? createSecureContext({ ...options, minVersion })
  return (address, handler) => {
    let failure: Error | undefined
    const socket = connect({
      ...options,
      secureContext,
      // Said, since a variable of the environment can turn the default off for the whole process.
      rejectUnauthorized: options.rejectUnauthorized !== false,
      host: address.host,
      port: address.port,
      ...serverName(options.servername ?? address.host),
    })
    socket.setNoDelay(true)
    socket
      .on('secureConnect', () => handler.opened())
      .on('data', (chunk: Buffer) => handler.received(chunk))
      .on('error', (error: Error) => (failure = explained(error, address)))
      .on('close', () => handler.closed(failure))
    return {
      write: bytes => void socket.write(bytes),
      destroy: () => void socket.destroy(),
    }
  }
}

/** RFC 6066, 3: a server is asked for by name, without a dot behind it, and never by address. */
function serverName(host: string): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host.replace(/\.$/, '') }
}

type TlsError = Error & { code?: string; reason?: string }

/** OpenSSL's own messages hold numbers and places in its source; its `reason` says what happened. */
function explained(error: TlsError, { host }: Address): Error {
  const { code = '', reason = '' } = error
  // What the system says (ECONNREFUSED, ENOTFOUND) may pass. What OpenSSL, node:tls or the caller's own check says will not.
  if (/^E(?!RR|PROTO)[A-Z_]+$/.test(code)) return error
  const because = (what: string) => new PermanentError(`TLS: ${what}`, { cause: error })
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return because(`the certificate is not for ${host}: ${reason}`)
  if (CLIENT_CERTIFICATE.test(reason))
    return because(`the server wants a client certificate, or another one (${reason})`)
  if (NO_TLS.test(code)) return because('the server does not speak TLS on this port')
  return because(reason || error.message)
}

const CLIENT_CERTIFICATE =
  /alert (bad certificate|certificate|unknown ca|unsupported certificate|no certificate|access denied)/
const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|HTTP_REQUEST|UNKNOWN_PROTOCOL|PACKET_LENGTH_TOO_LONG)$/
