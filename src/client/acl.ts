// Access control lists (ACLs). An ACL says which identities may do which operations on a node.
import { sha1 } from '../runtime/hash.ts'
import { badArguments, perms, type ACL } from '../protocol/index.ts'

/**
 * Returns one entry of an ACL: `aclOf('digest', digest('ann', 'secret'), perms.read | perms.write)`.
 * @param permissions bits of {@link perms}, combined with `|`. Default: all permissions
 * @example
 * const acl = [aclOf('digest', digest('ann', 'secret')), aclOf('ip', '10.0.0.0/8', perms.read)]
 * await zk.create('/mine', 'v1', { acl })
 * acl.map(entry => entry.perms) // => [31, 1]
 */
export const aclOf = (scheme: string, id: string, permissions: number = perms.all): ACL => ({
  perms: permissions,
  id: { scheme, id },
})

/** Returns an ACL that the caller cannot change. */
export const copyOfACL = (acl: readonly ACL[] | undefined): readonly ACL[] | undefined =>
  acl?.map(({ perms, id }) => aclOf(id.scheme, id.id, perms))

/** Returns an ACL of one entry that nobody can change, because every call without an ACL uses one of them. */
function constant(...entry: Parameters<typeof aclOf>): readonly ACL[] {
  const { perms, id } = aclOf(...entry)
  return Object.freeze([Object.freeze({ perms, id: Object.freeze(id) })])
}

/**
 * Grants all permissions to everybody (ZooDefs.Ids.OPEN_ACL_UNSAFE).
 * @example
 * await zk.create('/shared')
 * const { acl } = await zk.getACL('/shared')
 * acl // => openACL
 */
export const openACL: readonly ACL[] = constant('world', 'anyone')

/**
 * Grants everybody the permission to read, and no other (ZooDefs.Ids.READ_ACL_UNSAFE).
 * @example
 * await zk.create('/fixed', 'v1', { acl: readOnlyACL })
 * await zk.setData('/fixed', 'v2') // throws NOAUTH
 */
export const readOnlyACL: readonly ACL[] = constant('world', 'anyone', perms.read)

/**
 * Grants all permissions to every identity that the creating session has authenticated with, and none to anybody else
 * (ZooDefs.Ids.CREATOR_ALL_ACL). If the session has not authenticated, the server rejects the request with INVALIDACL.
 * @example
 * await zk.addAuth('digest', 'ann:secret')
 * await zk.create('/mine', 'v1', { acl: creatorAllACL })
 * await other.getData('/mine') // throws NOAUTH
 */
export const creatorAllACL: readonly ACL[] = /* @__PURE__ */ constant('auth', '')

/**
 * Returns the id, in the scheme `digest`, of all sessions that called `addAuth('digest', 'user:password')`. It is
 * `user:` followed by the base64 of the SHA-1 of `user:password`. Choose long passwords, because anyone who can read
 * the ACL can guess them offline.
 * @throws ZooKeeperError BADARGUMENTS if `user` contains a colon, or if `user` or `password` contains half a surrogate
 * pair
 * @example digest('ann', 'secret') // => 'ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM='
 */
export function digest(user: string, password: string): string {
  // For the server the user ends at the first colon (DigestAuthenticationProvider.generateDigest).
  const isText = typeof user === 'string' && typeof password === 'string'
  if (!isText || !user.isWellFormed() || !password.isWellFormed())
    throw badArguments('digest', '', 'user and password must be strings without half a surrogate pair')
  if (user.includes(':')) throw badArguments('digest', '', 'a user must not contain a colon')
  return `${user}:${sha1(Buffer.from(`${user}:${password}`)).toString('base64')}`
}
