// Access control lists: who may do what with a node.
import { sha1 } from '../runtime/hash.ts'
import { badArguments, perms, type ACL } from '../protocol/index.ts'

/**
 * An entry of a list: `aclOf('digest', digest('ann', 'secret'), perms.read | perms.write)`.
 * @param may bits of {@link perms}. Default: all
 */
export const aclOf = (scheme: string, id: string, may: number = perms.all): ACL => ({
  perms: may,
  id: { scheme, id },
})

/** The world may do anything (ZooDefs.Ids.OPEN_ACL_UNSAFE). */
export const openACL: readonly ACL[] = [aclOf('world', 'anyone')]

/** The world may read (ZooDefs.Ids.READ_ACL_UNSAFE). */
export const readOnlyACL: readonly ACL[] = [aclOf('world', 'anyone', perms.read)]

/**
 * Who creates the node, as all that the session has authenticated as, may do anything, and nobody else (ZooDefs.Ids.CREATOR_ALL_ACL).
 * A session that has not authenticated is refused with INVALIDACL.
 */
export const creatorAllACL: readonly ACL[] = [aclOf('auth', '')]

/**
 * The id by which a server knows who called `addAuth('digest', 'user:password')`: `user:` and the base64 of the SHA-1 of
 * `user:password`. Whoever can read a list can guess passwords from it at leisure: make them long.
 * @throws ZooKeeperError BADARGUMENTS where the user has a colon in it, or either holds half a surrogate pair
 */
export function digest(user: string, password: string): string {
  // The server takes what is before the first colon for the user (DigestAuthenticationProvider.generateDigest).
  const problem = user.includes(':')
    ? 'a colon in the name of a user'
    : user.isWellFormed() && password.isWellFormed()
      ? undefined
      : 'half a surrogate pair'
  if (problem !== undefined) throw badArguments('digest', '', problem)
  return `${user}:${sha1(Buffer.from(`${user}:${password}`)).toString('base64')}`
}
