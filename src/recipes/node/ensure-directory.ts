// Creates a node that a recipe needs, usually the directory of its other nodes. Missing nodes above it get the
// client's own ACL, because other users may need them too.
import { createAtServer, ensureAtServer, serverPath } from '../../client/recipe-support.ts'
import { parentOf, type ACL } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'

/** What a directory is created with. */
export interface DirectoryOptions {
  mode: 'container' | 'persistent'
  acl?: readonly ACL[] | undefined
  signal?: AbortSignal | undefined
}

/** Creates a node with this ACL, unless it exists. */
export const ensureDirectory = (client: Client, path: string, options: DirectoryOptions): Promise<void> =>
  ensureAtServer(client, serverPath(client, path), options)

/** Creates the node above a path in the same way, also if that is above the client's own root. */
export const ensureParent = (client: Client, path: string, options: DirectoryOptions): Promise<void> =>
  ensureAtServer(client, parentOf(serverPath(client, path)), options)

/** Creates the node above a path, which is missing, by requests that it sends before it returns. */
export const createParent = (client: Client, path: string, options: DirectoryOptions): Promise<void> =>
  createAtServer(client, parentOf(serverPath(client, path)), options)
