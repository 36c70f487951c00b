// Creates a node that a recipe needs, usually the directory of its other nodes.
import { parentOf, type ACL } from '../../protocol/index.ts'
import { atServerRoot, serverPath } from '../../client/recipe-support.ts'
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
export async function ensureDirectory(client: Client, path: string, options: DirectoryOptions): Promise<void> {
  const { acl, ...others } = options
  if (acl !== undefined) await ensureParent(client, path, others)
  await client.ensurePath(path, { ...others, acl })
}

/** Creates the node above a path in the same way, also if that is above the client's own root. */
export async function ensureParent(client: Client, path: string, options: DirectoryOptions): Promise<void> {
  const atServer = serverPath(client, path)
  if (atServer !== '/') await ensureDirectory(atServerRoot(client), parentOf(atServer), options)
}
