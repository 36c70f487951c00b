// The hashes of DIGEST-MD5 (RFC 2831, 2.1.2.1 and 2.1.3), by which client and server prove to each other that they know
// the password.
import { md5 } from '../runtime/hash.ts'
import { SaslError } from './sasl-error.ts'

/** The values of one exchange of messages. The realm and the nonces have one character for each byte. */
export interface DigestExchange {
  username: string
  password: string
  realm: string | undefined
  nonce: string
  cnonce: string
  digestUri: string
  isUtf8: boolean
}

/** The nonce count of the first use of a nonce. Each exchange has a nonce of its own. */
export const FIRST_USE = '00000001'

/**
 * The fixed digest-uri of Java's client and server. It does not contain the server's host name
 * (SecurityUtils.createSaslClient).
 */
export const DIGEST_URI = 'zookeeper/zk-sasl-md5'

/**
 * Returns the client's proof, `response`, and the server's, `rspauth`.
 * @throws SaslError if the name or the password has no bytes in the charset, or the runtime has no MD5
 */
export function proofsOf(exchange: DigestExchange): { response: string; rspauth: string } {
  const { username, password, realm, nonce, cnonce, digestUri, isUtf8 } = exchange
  const name = encodeForHash(username, isUtf8)
  const secret = encodeForHash(password, isUtf8)
  // The realm and the nonce are hashed byte for byte, as the server sent them.
  const owner = hash(name, latin1(`:${realm ?? ''}:`), secret)
  const a1 = hex(owner, latin1(`:${nonce}:${cnonce}`))
  const proof = (method: string) =>
    hex(latin1(`${a1}:${nonce}:${FIRST_USE}:${cnonce}:auth:${hex(latin1(`${method}:${digestUri}`))}`))
  return { response: proof('AUTHENTICATE'), rspauth: proof('') }
}

/**
 * Encodes text for hashing. Text that fits into ISO 8859-1 is encoded in ISO 8859-1, even if the charset is utf-8 (RFC
 * 2831, 2.1.2.1).
 * @throws SaslError if the text does not fit and the server does not support utf-8
 */
function encodeForHash(text: string, isUtf8: boolean): Buffer {
  if (/^[\0-\xff]*$/.test(text)) return latin1(text)
  if (!isUtf8)
    throw new SaslError(
      'the name or the password has characters outside ISO 8859-1, and the server does not support utf-8',
    )
  return Buffer.from(text)
}

function hash(...parts: Uint8Array[]): Buffer {
  try {
    return md5(Buffer.concat(parts))
  } catch (cause) {
    throw new SaslError('this runtime has no MD5, which DIGEST-MD5 needs', { cause })
  }
}

const hex = (...parts: Uint8Array[]): string => hash(...parts).toString('hex')
export const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
