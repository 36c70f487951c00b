// DIGEST-MD5 (RFC 2831): the client and the server prove to each other that they know the password, without sending it.
// The mechanism is obsolete (RFC 6331), but the only one of ZooKeeper apart from Kerberos. It does not encrypt the
// connection, so use it over TLS.
import { badArguments } from '../protocol/index.ts'
import { isSameSecret } from '../runtime/hash.ts'
import type { Random } from '../runtime/random.ts'
import type { Exchange, Mechanism } from '../session/life/sasl.ts'
import { DIGEST_URI, FIRST_USE, latin1, proofsOf } from './digest-proof.ts'
import { parseDirectives, quoted } from './directives.ts'
import { SaslError } from './sasl-error.ts'

/**
 * The name and the password of a user, as in the JAAS configuration of the server.
 * @example
 * const credentials: DigestCredentials = { username: 'ann', password: 'secret' }
 * digestMd5(credentials).name // => 'DIGEST-MD5'
 */
export interface DigestCredentials {
  /** The name, without a realm, because the server chooses the realm. */
  username: string
  /** The secret. It is never sent: only a digest of it is. */
  password: string
}

/**
 * The longest messages, in bytes. A client must abort if a challenge is longer than 2048 bytes (RFC 2831, 2.1.1). A
 * response is limited to 4096 bytes (2.1.2).
 */
const LONGEST_CHALLENGE = 2048
const LONGEST_RESPONSE = 4096

const REFUSED_MECHANISM =
  'the server refused it before a challenge; from 3.9.6 on, its FIPS mode, on by default, refuses DIGEST-MD5 (ZOOKEEPER-5043)'

const RULE = 'must be a string without control characters and unpaired surrogates'

/**
 * Returns a mechanism for the option `sasl` of connect(). It authenticates by name and password, as ZooKeeper's
 * DigestLoginModule does. Servers from 3.9.6 on refuse it in FIPS mode, which is their default (ZOOKEEPER-5043).
 * @throws ZooKeeperError BADARGUMENTS if the name or the password is not a string, or contains a control character or
 * an unpaired surrogate
 * @example
 * await using server = await Server.start({ saslUsers: { ann: 'secret' } })
 * const sasl = digestMd5({ username: 'ann', password: 'secret' })
 * await using zk = await connect(server.connectString, { sasl })
 * const identities = await zk.whoAmI()
 * identities.some(({ user }) => user === 'ann') // => true
 */
export function digestMd5(credentials: DigestCredentials): Mechanism {
  for (const what of ['username', 'password'] as const) {
    const text: unknown = (credentials as DigestCredentials | undefined)?.[what]
    // eslint-disable-next-line no-control-regex
    if (typeof text !== 'string' || !text.isWellFormed() || /[\0-\x1f\x7f]/.test(text))
      throw badArguments('digestMd5', '', `the ${what} ${RULE}`)
  }
  const { username, password } = credentials
  return {
    name: 'DIGEST-MD5',
    start: ({ random }) => exchange({ username, password }, nonceFrom(random)),
    refusals: { first: REFUSED_MECHANISM },
  }
}

/**
 * Starts one exchange of messages with a server.
 * @param cnonce the client's random value, which prevents a server from precomputing responses
 */
export function exchange(credentials: DigestCredentials, cnonce: string, digestUri = DIGEST_URI): Exchange {
  let expected: Buffer | undefined
  return {
    step(challenge) {
      if (challenge === null) return { token: Buffer.alloc(0) }
      if (expected === undefined) {
        const response = respond(credentials, parseChallenge(challenge), cnonce, digestUri)
        expected = response.rspauth
        return { token: response.token }
      }
      const rspauth = parseDirectives(challenge).get('rspauth')
      if (rspauth === undefined || !isSameSecret(Buffer.from(rspauth, 'latin1'), expected))
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

/**
 * Parses a challenge.
 * @throws SaslError if the bytes are not a challenge, or require an option that this client does not support
 */
export function parseChallenge(bytes: Uint8Array): Challenge {
  if (bytes.length > LONGEST_CHALLENGE)
    throw new SaslError(`the server's challenge has ${bytes.length} bytes, the limit is ${LONGEST_CHALLENGE}`)
  const directives = parseDirectives(bytes)
  const nonce = directives.get('nonce')
  if (nonce === undefined || nonce === '') throw new SaslError("the server's challenge has no nonce")
  if (directives.get('algorithm')?.toLowerCase() !== 'md5-sess')
    throw new SaslError("the algorithm of the server's challenge is not md5-sess")
  const qop = (directives.get('qop') ?? 'auth').toLowerCase().split(',')
  if (!qop.some(each => each.trim() === 'auth')) throw new SaslError("the server's challenge does not offer qop auth")
  const charset = directives.get('charset')
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    throw new SaslError("the charset of the server's challenge is not utf-8")
  return { realm: directives.get('realm'), nonce, isUtf8: charset !== undefined }
}

/** Returns the response to a challenge, and the `rspauth` that the server must send after it. */
function respond(
  { username, password }: DigestCredentials,
  { realm, nonce, isUtf8 }: Challenge,
  cnonce: string,
  digestUri: string,
): { token: Buffer; rspauth: Buffer } {
  const proofs = proofsOf({ username, password, realm, nonce, cnonce, digestUri, isUtf8 })
  const token = latin1(
    [
      ...(isUtf8 ? ['charset=utf-8'] : []),
      `username=${quoted(Buffer.from(username, isUtf8 ? 'utf8' : 'latin1').toString('latin1'))}`,
      ...(realm === undefined ? [] : [`realm=${quoted(realm)}`]),
      `nonce=${quoted(nonce)}`,
      `nc=${FIRST_USE}`,
      `cnonce=${quoted(cnonce)}`,
      `digest-uri=${quoted(digestUri)}`,
      `response=${proofs.response}`,
      'qop=auth',
    ].join(','),
  )
  if (token.length > LONGEST_RESPONSE)
    throw new SaslError(`the response has ${token.length} bytes, the limit is ${LONGEST_RESPONSE}`)
  return { token, rspauth: latin1(proofs.rspauth) }
}

/** Returns 128 random bits in hexadecimal. */
const nonceFrom = (random: Random): string =>
  Array.from({ length: 4 }, () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0'),
  ).join('')
