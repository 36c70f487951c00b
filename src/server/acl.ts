// Who may do what: access control lists, and the identities they are held against.
import { perms, type ACL, type Id } from '../protocol/index.ts'
import { sha1 } from '../runtime/hash.ts'
import { RequestError } from './refusal.ts'

/** A way of knowing who somebody is (AuthenticationProvider). */
interface Scheme {
  /** May this stand as an id in a list? */
  isValid(id: string): boolean
  /** Is who is known as `known` meant by `listed`? */
  matches(known: string, listed: string): boolean
  /** Has who is known by it proven anything? Only then 'auth' in a list means them too. */
  isProof: boolean
  userOf(id: string): string
}

const schemes: Readonly<Record<string, Scheme>> = {
  digest: {
    // Two parts by Java's split(), which drops empty ones at the end.
    isValid: id => id.replace(/:+$/, '').split(':').length === 2,
    matches: (known, listed) => known === listed,
    isProof: true,
    userOf: id => id.slice(0, id.indexOf(':')),
  },
  ip: {
    isValid: id => networkOf(id) !== undefined,
    matches(known, listed) {
      const network = networkOf(listed)
      const address = networkOf(known)
      if (network === undefined || address === undefined) return false
      const shift = 32n - BigInt(network.bits)
      return address.address >> shift === network.address >> shift
    },
    isProof: false,
    userOf: id => id,
  },
}

const schemeOf = (name: string): Scheme | undefined => (Object.hasOwn(schemes, name) ? schemes[name] : undefined)

/** '10.0.0.0/8' or an address alone. IPv4 only, as in IPAuthenticationProvider. */
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
 * The list as it is kept: without repetitions, and with the caller's own identities in the place of 'auth'.
 * @throws Refusal INVALIDACL where it is empty, or names nobody that could be known
 */
export function fixupACL(acl: readonly ACL[] | null, identities: readonly Id[]): ACL[] {
  const entries = new Map((acl ?? []).map(each => [JSON.stringify(each), each]))
  if (entries.size === 0) throw new RequestError('INVALIDACL')
  return [...entries.values()].flatMap(entry => {
    if (isAnyone(entry.id)) return entry
    if (entry.id.scheme === 'auth') {
      const proven = identities.filter(({ scheme }) => schemeOf(scheme)?.isProof === true)
      if (proven.length === 0) throw new RequestError('INVALIDACL')
      return proven.map(id => ({ perms: entry.perms, id }))
    }
    if (schemeOf(entry.id.scheme)?.isValid(entry.id.id) !== true) throw new RequestError('INVALIDACL')
    return entry
  })
}

/** @param permission bits of which one is enough */
export const allows = (acl: readonly ACL[], permission: number, identities: readonly Id[]): boolean =>
  acl.length === 0 ||
  acl.some(
    ({ perms: may, id: listed }) =>
      (may & permission) !== 0 &&
      (isAnyone(listed) ||
        identities.some(
          ({ scheme, id }) => scheme === listed.scheme && schemeOf(scheme)?.matches(id, listed.id) === true,
        )),
  )

/** @throws Refusal NOAUTH */
export function requirePermission(acl: readonly ACL[], permission: number, identities: readonly Id[]): void {
  if (!allows(acl, permission, identities)) throw new RequestError('NOAUTH')
}

/** Who may only read sees no digests: passwords could be guessed from them. */
export const redactACL = (acl: readonly ACL[], identities: readonly Id[]): ACL[] =>
  acl.map(entry =>
    entry.id.scheme === 'digest' && !allows(acl, perms.admin, identities)
      ? { ...entry, id: { scheme: 'digest', id: entry.id.id.replace(/:.*/, ':x') } }
      : entry,
  )

/** Who somebody is that says so in an auth packet; undefined where that is not believed. `address` is where they come from. */
export function identified(scheme: string | null, auth: Buffer | null, address: string): Id | undefined {
  if (scheme === 'ip') return { scheme, id: address }
  if (scheme !== 'digest' || auth === null) return undefined
  const [user = ''] = auth.toString().split(':', 1)
  return { scheme, id: `${user}:${sha1(Buffer.from(auth.toString())).toString('base64')}` }
}

export const userOf = ({ scheme, id }: Id): string => schemeOf(scheme)?.userOf(id) ?? ''
