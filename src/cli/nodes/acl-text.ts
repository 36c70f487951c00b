// ACLs as text: scheme:id:permissions, as in zkCli.sh.
import { aclOf, creatorAllACL, openACL, readOnlyACL } from '../../client/index.ts'
import { perms, type ACL } from '../../protocol/index.ts'
import { UsageError } from '../runner/failure.ts'

/** The letters of the permissions, in the order in which zkCli.sh prints them. */
const letters = [
  ['c', perms.create],
  ['d', perms.delete],
  ['r', perms.read],
  ['w', perms.write],
  ['a', perms.admin],
] as const

const named: Readonly<Record<string, readonly ACL[]>> = { open: openACL, creator: creatorAllACL, read: readOnlyACL }

/** Returns one entry as text, such as `world:anyone:cdrwa`. */
export const aclText = ({ perms: bits, id: { scheme, id } }: ACL): string =>
  `${scheme}:${id}:${letters.map(([letter, bit]) => ((bits & bit) === 0 ? '' : letter)).join('')}`

/** The option of commands that set an ACL. */
export const forceOption = {
  type: 'boolean',
  help: 'also sets an ACL with an entry that grants nothing, or that nobody could change again',
} as const

/** Returns the entry of {@link aclText}, or undefined if the text is malformed. */
function aclEntryOf(text: string): ACL | undefined {
  const [, scheme, id = '', granted = ''] = /^([^:,\s]+):(.*):([cdrwa]*)$/s.exec(text) ?? []
  // The end of an IPv6 address can look like permissions.
  if (scheme === undefined || (scheme === 'ip' && id.includes(':') && !isIPv6(id))) return undefined
  const bits = letters.reduce((sum, [letter, bit]) => (granted.includes(letter) ? sum | bit : sum), 0)
  return aclOf(scheme, id, bits)
}

const isIPv6 = (id: string): boolean => URL.canParse(`http://[${id.replace(/\/\d+$/, '')}]/`)

/**
 * Returns the entries of a list as zkCli.sh has it, such as `sasl:bob:cdrwa,world:anyone:r`, or undefined if one is
 * malformed. A comma within an id, such as `x509:CN=a,OU=b:r`, ends no entry: permissions must stand before it, and a
 * scheme behind it.
 */
export function aclEntriesOf(text: string): ACL[] | undefined {
  const entries = text.split(/(?<=:[cdrwa]*|^\s*)\s*,\s*(?=[a-z][\w.+-]*:|\s*$)/i).filter(each => each.trim() !== '')
  const parsed = entries.flatMap(each => aclEntryOf(each.trim()) ?? [])
  return parsed.length > 0 && parsed.length === entries.length ? parsed : undefined
}

/**
 * Returns the ACL of options: entries, or the name of a whole ACL.
 * @throws UsageError if one is malformed, or, unless `force` is true, if it grants nothing
 */
export function aclFrom(texts: readonly string[], force: boolean): ACL[] {
  return texts.flatMap(text => {
    const known = Object.hasOwn(named, text) ? named[text] : undefined
    if (known !== undefined) return known
    const entries = aclEntriesOf(text)
    if (entries === undefined)
      throw new UsageError(
        `${shown(text)} is no entry of an ACL: write scheme:id:cdrwa, as world:anyone:r, or open, creator, read`,
      )
    const problem = force ? undefined : uselessIn(entries)
    if (problem !== undefined) throw new UsageError(`${problem}; to set it nevertheless, give --force`)
    return entries
  })
}

/** Returns the text in quotes, without what may be a password. */
const shown = (text: string): string => JSON.stringify(text.replace(/\b((?:digest|auth):[^:]*:).*$/s, '$1…'))

/** Says which entry grants nothing to anybody, and why. Returns undefined if each may grant something. */
export function uselessIn(acl: readonly ACL[]): string | undefined {
  for (const entry of acl) {
    const why = whyUseless(entry)
    if (why !== undefined) return `the entry ${shown(aclText(entry))} grants nothing, because ${why}`
  }
  return undefined
}

/** What an id has if the entry before it lacks its permissions, has a wrong letter, or ends with no comma. */
const ANOTHER_ENTRY = /[,;\s](?:world|auth|digest|sasl|ip|x509|super):/

function whyUseless({ perms: bits, id: { scheme, id } }: ACL): string | undefined {
  if (ANOTHER_ENTRY.test(id))
    return 'its id has another entry in it: write each as scheme:id:cdrwa, separated by commas'
  if ((bits & perms.all) === 0) return 'it has no permission: write letters of cdrwa behind the last colon'
  if (scheme === 'world' && id !== 'anyone') return 'the scheme world has the id anyone only'
  if (scheme !== 'digest') return undefined
  if (id.endsWith(':x')) return 'x stands for a hash that the server has hidden: read the ACL as its admin'
  return isDigestId(id)
    ? undefined
    : 'the id of digest is user:HASH, where HASH is the base64 of the SHA-1 of user:password, and not the password: ' +
        'authenticate by --auth digest:user:password, and write auth::cdrwa'
}

/** Returns true for `user:HASH`, with a hash of any algorithm that servers can be set to (digestAlg). */
function isDigestId(id: string): boolean {
  const [, hash = ''] = /^[^:]*:([a-z\d+/]+={0,2})$/i.exec(id) ?? []
  return hash.length % 4 === 0 && [16, 20, 28, 32, 48, 64].includes(Buffer.from(hash, 'base64').length)
}

/** Returns true if some entry lets somebody change the ACL again. */
export const canBeChanged = (acl: readonly ACL[]): boolean => acl.some(entry => (entry.perms & perms.admin) !== 0)
