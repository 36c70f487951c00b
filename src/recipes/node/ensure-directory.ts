// Creates a node that a recipe needs, usually the directory of its other nodes.
import { parentOf, type ACL } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'

interface DirectoryOptions {
  mode: 'container' | 'persistent'
  acl?: readonly ACL[] | undefined
  signal?: AbortSignal | undefined
}

/**
 * Creates a node with this ACL, unless it exists. Missing nodes above it are open to everyone, because other users may
 * need them too.
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
