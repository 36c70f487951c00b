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

/** Returns the entry of {@link aclText}, or undefined if the text is malformed. */
export function aclEntryOf(text: string): ACL | undefined {
  const [, scheme, id = '', granted = ''] = /^([^:]+):(.*):([cdrwa]*)$/s.exec(text) ?? []
  if (scheme === undefined) return undefined
  const bits = letters.reduce((sum, [letter, bit]) => (granted.includes(letter) ? sum | bit : sum), 0)
  return aclOf(scheme, id, bits)
}

/**
 * Returns the ACL of options: entries, or the name of a whole ACL.
 * @throws UsageError if one is malformed
 */
export function aclFrom(texts: readonly string[]): ACL[] {
  return texts.flatMap(text => {
    const known = Object.hasOwn(named, text) ? named[text] : undefined
    const entry = aclEntryOf(text)
    if (known !== undefined) return known
    if (entry !== undefined) return [entry]
    throw new UsageError(
      `${JSON.stringify(text)} is no entry of an ACL: write scheme:id:cdrwa, as world:anyone:r, or open, creator, read`,
    )
  })
}
