// Access control lists: who may do what with a node.
import { sha1 } from '../runtime/hash.ts'
import { badArguments, perms, type ACL } from '../protocol/index.ts'

/**
 * Makes one entry of a list: `aclOf('digest', digest('ann', 'secret'), perms.read | perms.write)`.
 * @param permissions bits of {@link perms}. Default: all
 */
export const aclOf = (scheme: string, id: string, permissions: number = perms.all): ACL => ({
  perms: permissions,
  id: { scheme, id },
})

/** Grants everybody everything (ZooDefs.Ids.OPEN_ACL_UNSAFE). */
export const openACL: readonly ACL[] = [aclOf('world', 'anyone')]

/** Lets everybody read, and nothing else (ZooDefs.Ids.READ_ACL_UNSAFE). */
export const readOnlyACL: readonly ACL[] = [aclOf('world', 'anyone', perms.read)]

/**
 * Grants all permissions to every identity that the creating session has authenticated with, and none to anybody else
 * (ZooDefs.Ids.CREATOR_ALL_ACL). The server refuses a session that has not authenticated with INVALIDACL.
 */
export const creatorAllACL: readonly ACL[] = [aclOf('auth', '')]

/**
 * Returns the id of a session that called `addAuth('digest', 'user:password')`: `user:` and the base64 of the SHA-1 of
 * `user:password`. A reader of the list can guess passwords from it offline, so make them long.
 * @throws ZooKeeperError BADARGUMENTS if the user contains a colon, or either contains half a surrogate pair
 */
export function digest(user: string, password: string): string {
  // For the server the user ends at the first colon (DigestAuthenticationProvider.generateDigest).
  const isText = typeof user === 'string' && typeof password === 'string'
  if (!isText || !user.isWellFormed() || !password.isWellFormed())
    throw badArguments('digest', '', 'user and password must be strings without half a surrogate pair')
  if (user.includes(':')) throw badArguments('digest', '', 'a user must not contain a colon')
  return `${user}:${sha1(Buffer.from(`${user}:${password}`)).toString('base64')}`
}
