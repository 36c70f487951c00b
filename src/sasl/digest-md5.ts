// DIGEST-MD5 (RFC 2831): both ends prove that they know the password, and neither says it. Obsolete (RFC 6331), and what
// ZooKeeper has beside Kerberos. It hides nothing that comes behind it: use it through TLS.
import { isSameSecret, md5 } from '../runtime/hash.ts'
import type { Random } from '../runtime/random.ts'
import type { Exchange, Mechanism } from '../session/life/sasl.ts'
import { parseDirectives, quoted } from './directives.ts'
import { SaslError } from './sasl-error.ts'

export interface DigestCredentials {
  /** Without the realm: that is the server's to say. */
  username: string
  password: string
}

/** What Java's client and server have agreed on, whatever the server's host is called (SecurityUtils.createSaslClient). */
const DIGEST_URI = 'zookeeper/zk-sasl-md5'
/** RFC 2831, 2.1.1: a client that gets more than this aborts; and 2.1.2: nor may a response be longer than that. */
const LONGEST_CHALLENGE = 2048
const LONGEST_RESPONSE = 4096
const FIRST_USE = '00000001'

/**
 * Authenticates by name and password, as ZooKeeper's DigestLoginModule does, for connect()'s option `sasl`.
 * @throws TypeError where a name or a password is no text, or cannot be said: it holds a control character or half a surrogate pair
 */
export function digestMd5({ username, password }: DigestCredentials): Mechanism {
  for (const [what, text] of Object.entries({ username, password }))
    // eslint-disable-next-line no-control-regex
    if (typeof text !== 'string' || !text.isWellFormed() || /[\0-\x1f\x7f]/.test(text))
      throw new TypeError(`the ${what} is not a text without control characters and halves of surrogate pairs`)
  return {
    name: 'DIGEST-MD5',
    start: ({ random }) => exchange({ username, password }, nonceFrom(random)),
  }
}

/** @param cnonce what the client adds, so that a server cannot have prepared for its answer */
export function exchange(credentials: DigestCredentials, cnonce: string, digestUri = DIGEST_URI): Exchange {
  let expected: Buffer | undefined
  return {
    step(challenge) {
      if (challenge === null) return { token: Buffer.alloc(0) }
      if (expected === undefined) {
        const { token, rspauth } = answer(credentials, parseChallenge(challenge), cnonce, digestUri)
        expected = rspauth
        return { token }
      }
      const said = parseDirectives(challenge).get('rspauth')
      if (said === undefined || !isSameSecret(Buffer.from(said, 'latin1'), expected))
        throw new SaslError('the server did not prove that it knows the password')
      return { complete: true }
    },
  }
}

interface Challenge {
  realm: string | undefined
  nonce: string
  isUtf8: boolean
}

/** @throws SaslError where it is none, or offers nothing that this client does */
export function parseChallenge(bytes: Uint8Array): Challenge {
  if (bytes.length > LONGEST_CHALLENGE) throw new SaslError(`a challenge of ${bytes.length} bytes`)
  const directives = parseDirectives(bytes)
  const nonce = directives.get('nonce')
  if (nonce === undefined || nonce === '') throw new SaslError('the challenge has no nonce')
  if (directives.get('algorithm')?.toLowerCase() !== 'md5-sess')
    throw new SaslError('the algorithm of the challenge is not md5-sess')
  const qop = (directives.get('qop') ?? 'auth').toLowerCase().split(',')
  if (!qop.some(each => each.trim() === 'auth')) throw new SaslError('the challenge does not offer qop auth')
  const charset = directives.get('charset')
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    throw new SaslError('the charset of the challenge is not utf-8')
  return { realm: directives.get('realm'), nonce, isUtf8: charset !== undefined }
}

/** What is said to a challenge, and what the server must say to that. */
function answer(
  { username, password }: DigestCredentials,
  { realm, nonce, isUtf8 }: Challenge,
  cnonce: string,
  digestUri: string,
): { token: Buffer; rspauth: Buffer } {
  const name = hashed(username, isUtf8)
  const secret = hashed(password, isUtf8)
  // In bytes as they came: a realm and a nonce are given back as they are.
  const owner = hash(name, latin1(`:${realm ?? ''}:`), secret)
  const a1 = hex(owner, latin1(`:${nonce}:${cnonce}`))
  const proof = (method: string) =>
    hex(latin1(`${a1}:${nonce}:${FIRST_USE}:${cnonce}:auth:${hex(latin1(`${method}:${digestUri}`))}`))
  const token = latin1(
    [
      ...(isUtf8 ? ['charset=utf-8'] : []),
      `username=${quoted(Buffer.from(username, isUtf8 ? 'utf8' : 'latin1').toString('latin1'))}`,
      ...(realm === undefined ? [] : [`realm=${quoted(realm)}`]),
      `nonce=${quoted(nonce)}`,
      `nc=${FIRST_USE}`,
      `cnonce=${quoted(cnonce)}`,
      `digest-uri=${quoted(digestUri)}`,
      `response=${proof('AUTHENTICATE')}`,
      'qop=auth',
    ].join(','),
  )
  if (token.length > LONGEST_RESPONSE) throw new SaslError(`a response of ${token.length} bytes`)
  return { token, rspauth: latin1(proof('')) }
}

/**
 * 2.1.2.1: what fits into ISO 8859-1 is hashed so, also where the charset is utf-8.
 * @throws SaslError where it does not fit and the server has no utf-8
 */
function hashed(text: string, isUtf8: boolean): Buffer {
  if (/^[\0-\xff]*$/.test(text)) return latin1(text)
  if (!isUtf8) throw new SaslError('the server knows ISO 8859-1 only, and the name or the password is more')
  return Buffer.from(text)
}

function hash(...parts: Uint8Array[]): Buffer {
  try {
    return md5(Buffer.concat(parts))
  } catch (cause) {
    throw new SaslError('there is no MD5 in this runtime, so there is no DIGEST-MD5', { cause })
  }
}

const hex = (...parts: Uint8Array[]): string => hash(...parts).toString('hex')
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** 128 bits. */
const nonceFrom = (random: Random): string =>
  Array.from({ length: 4 }, () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0'),
  ).join('')
