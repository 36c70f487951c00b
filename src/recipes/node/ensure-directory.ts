// Creates the node in which recipes create theirs.
import { parentOf, type ACL } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'

interface DirectoryOptions {
  mode: 'container' | 'persistent'
  acl?: readonly ACL[] | undefined
  signal?: AbortSignal
}

/**
 * Creates a node with its ACL. Missing nodes above it are open to everyone, because other users have nodes there too.
 */
export async function ensureDirectory(
  client: Client,
  path: string,
  { acl, ...options }: DirectoryOptions,
): Promise<void> {
  if (acl === undefined) return client.ensurePath(path, options)
  if (path !== '/') await client.ensurePath(parentOf(path), options)
  await client.ensurePath(path, { ...options, acl })
}
