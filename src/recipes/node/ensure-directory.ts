// Where nodes are put.
import { parentOf, type ACL } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'

interface DirectoryOptions {
  mode: 'container' | 'persistent'
  acl?: readonly ACL[] | undefined
  signal?: AbortSignal
}

/** Makes a node, by its ACL; what is missing above it is for everybody, since others have their own nodes there. */
export async function ensureDirectory(
  client: Client,
  path: string,
  { acl, ...options }: DirectoryOptions,
): Promise<void> {
  if (acl === undefined) return client.ensurePath(path, options)
  if (path !== '/') await client.ensurePath(parentOf(path), options)
  await client.ensurePath(path, { ...options, acl })
}
