// Access control lists, and the identities that clients have proved.
import { perms, type ACL, type Id } from '../../protocol/index.ts'
import { sha1 } from '../../runtime/hash.ts'
import { RequestError } from './request-error.ts'

/** An authentication scheme (AuthenticationProvider). */
interface Scheme {
  /** Returns true if an ACL may contain this id. */
  isValid(id: string): boolean
  /** Returns true if an ACL entry for `listed` applies to a client with the identity `proved`. */
  matches(proved: string, listed: string): boolean
  /**
   * True if a client must authenticate to get an identity of this scheme. The scheme 'auth' in an ACL means only such
   * identities.
   */
  isAuthenticated: boolean
  /** Returns the name of the user in an id. */
  userOf(id: string): string
}

const schemes: Readonly<Record<string, Scheme>> = {
  digest: {
    isValid: hasTwoParts,
    matches: (proved, listed) => proved === listed,
    isAuthenticated: true,
    userOf: id => id.slice(0, id.indexOf(':')),
  },
  sasl: {
    // A Kerberos principal, or a name without a realm (KerberosName).
    isValid: id => /^[^/@]*(\/[^/@]*)?@[^/@]*$/.test(id) || !id.includes('@'),
    matches: (proved, listed) => proved === listed || proved === 'super',
    isAuthenticated: true,
    userOf: id => id,
  },
  ip: {
    isValid: id => networkOf(id) !== undefined,
    matches(proved, listed) {
      const network = networkOf(listed)
      const address = networkOf(proved)
      if (network === undefined || address === undefined) return false
      const shift = 32n - BigInt(network.bits)
      return address.address >> shift === network.address >> shift
    },
    isAuthenticated: false,
    userOf: id => id,
  },
}

/**
 * Returns true if Java's split(':') cuts the text into two parts. It drops empty parts at the end. A pattern such as
 * /:+$/ would take quadratic time, and the text comes from any client.
 */
function hasTwoParts(text: string): boolean {
  let end = text.length
  while (text[end - 1] === ':') end--
  const first = text.indexOf(':')
  const second = text.indexOf(':', first + 1)
  return first !== -1 && first < end && (second === -1 || second >= end)
}

const schemeOf = (name: string): Scheme | undefined => (Object.hasOwn(schemes, name) ? schemes[name] : undefined)

/** Parses '10.0.0.0/8' or a single address. IPv4 only, as in IPAuthenticationProvider. */
function networkOf(text: string): { address: bigint; bits: number } | undefined {
  const [address = '', bits = '32'] = text.split(/\/(.*)/s)
  const parts = address.split('.')
  const isNumber = (part: string, maximum: number) =>
    /^[+-]?\d+$/.test(part) && Number(part) >= 0 && Number(part) <= maximum
  if (parts.length !== 4 || !parts.every(part => isNumber(part, 255)) || !isNumber(bits, 32)) return undefined
  return { address: parts.reduce((sum, part) => sum * 256n + BigInt(Number(part)), 0n), bits: Number(bits) }
}

const isAnyone = ({ scheme, id }: Id): boolean => scheme === 'world' && id === 'anyone'

/**
 * The largest number of entries that the entries of the scheme 'auth' may become. A client can prove a thousand
 * identities, and a request of a megabyte has room for tens of thousands of entries.
 */
const MAX_PROVED = 10_000

/**
 * Returns the ACL to store: without duplicates, and with the caller's proved identities instead of 'auth'.
 * @param hasSasl true if the server knows the scheme 'sasl'
 * @throws RequestError INVALIDACL if it is empty, contains an invalid id, or contains 'auth' from a client that has not
 * authenticated
 */
export function fixupACL(acl: readonly ACL[] | null, identities: readonly Id[], hasSasl: boolean): ACL[] {
  const entries = new Map((acl ?? []).map(each => [JSON.stringify(each), each]))
  if (entries.size === 0) throw new RequestError('INVALIDACL')
  let size = 0
  return [...entries.values()].flatMap(entry => {
    if (isAnyone(entry.id)) return entry
    if (entry.id.scheme === 'auth') {
      const proved = identities.filter(({ scheme }) => schemeOf(scheme)?.isAuthenticated === true)
      size += proved.length
      if (proved.length === 0 || size > MAX_PROVED) throw new RequestError('INVALIDACL')
      return proved.map(id => ({ perms: entry.perms, id }))
    }
    if (entry.id.scheme === 'sasl' && !hasSasl) throw new RequestError('INVALIDACL')
    if (schemeOf(entry.id.scheme)?.isValid(entry.id.id) !== true) throw new RequestError('INVALIDACL')
    return entry
  })
}

/** The scheme of the identity that may do everything. No ACL can contain it. */
const SUPER = 'super'

/**
 * Returns true if the ACL grants at least one bit of `permission` to one of the identities.
 * An empty ACL grants everything, and a superuser may do everything.
 */
export const allows = (acl: readonly ACL[], permission: number, identities: readonly Id[]): boolean =>
  acl.length === 0 ||
  identities.some(({ scheme }) => scheme === SUPER) ||
  acl.some(
    ({ perms: granted, id: listed }) =>
      (granted & permission) !== 0 &&
      (isAnyone(listed) ||
        identities.some(
          ({ scheme, id }) => scheme === listed.scheme && schemeOf(scheme)?.matches(id, listed.id) === true,
        )),
  )

/** @throws RequestError NOAUTH if the ACL does not grant the permission */
export function requirePermission(acl: readonly ACL[], permission: number, identities: readonly Id[]): void {
  if (!allows(acl, permission, identities)) throw new RequestError('NOAUTH')
}

/** Hides digests from a client without the admin permission, because passwords could be guessed from them. */
export const redactACL = (acl: readonly ACL[], identities: readonly Id[]): ACL[] =>
  acl.map(entry =>
    entry.id.scheme === 'digest' && !allows(acl, perms.admin, identities)
      ? { ...entry, id: { scheme: 'digest', id: entry.id.id.replace(/:.*/, ':x') } }
      : entry,
  )

/**
 * Returns the identities that an auth packet proves, or none if it proves nothing.
 * @param address the address of the client
 * @param superDigest the digest id of the superuser; '' if there is none
 */
export function authenticate(
  scheme: string | null,
  auth: Buffer | null,
  address: string,
  superDigest: string,
): readonly Id[] {
  if (scheme === 'ip') return [{ scheme, id: address }]
  if (scheme !== 'digest' || auth === null) return []
  const [user = ''] = auth.toString().split(':', 1)
  const id = `${user}:${sha1(Buffer.from(auth.toString())).toString('base64')}`
  return id === superDigest ? [superIdentity, { scheme, id }] : [{ scheme, id }]
}

const superIdentity: Id = { scheme: SUPER, id: '' }

export const userOf = ({ scheme, id }: Id): string => schemeOf(scheme)?.userOf(id) ?? ''
