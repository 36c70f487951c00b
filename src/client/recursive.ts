// Whole branches of the tree. Each step may be done twice without harm, so that lost connections are lived through.
import { isCode, join, parentOf, ZooKeeperError, type ACL } from '../protocol/index.ts'
import type { CreateOptions } from './validation.ts'

/** What is needed of a client. */
interface Tree {
  create(path: string, data: string, options: CreateOptions): Promise<unknown>
  delete(path: string): Promise<void>
  exists(path: string): Promise<object | null>
  getChildren(path: string): Promise<{ children: string[] }>
  whenConnected(options: { signal: AbortSignal; readOnly: boolean }): Promise<void>
  retry<T>(task: () => Promise<T>, options?: { signal?: AbortSignal | undefined }): Promise<T>
}

export async function ensurePath(
  client: Tree,
  path: string,
  options: { mode: 'persistent' | 'container'; acl: readonly ACL[] | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const { mode, acl, signal } = options
  // A create that waits for a connection cannot be taken back.
  if (signal) await client.whenConnected({ signal, readOnly: true })
  try {
    await client.retry(() => client.create(path, '', { mode, ...(acl && { acl }) }), { signal })
  } catch (error) {
    if (isCode(error, 'NODEEXISTS')) return
    // Who may not create children of the parent may still find the node there.
    if (isCode(error, 'NOAUTH') && (await client.retry(() => isThere(client, path), { signal }))) return
    if (!isCode(error, 'NONODE') || path === '/') throw error
    await ensurePath(client, parentOf(path), options)
    // Again from here: another client may have deleted the parent meanwhile.
    await ensurePath(client, path, options)
  }
}

async function isThere(client: Tree, path: string): Promise<boolean> {
  try {
    return (await client.exists(path)) !== null
  } catch (error) {
    // The server asks for the permission to read a node that is there, and for none where there is none (ZOOKEEPER-2590: from 3.8.4, 3.9.2 on).
    if (isCode(error, 'NOAUTH')) return true
    throw error
  }
}

/** Children that others create meanwhile are deleted too, but not for ever. */
const ROUNDS = 100

/** Requests in flight: the session's other callers are to have their turn. */
const AT_ONCE = 100

export async function deleteRecursive(client: Tree, path: string): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      const { children } = await client.retry(() => client.getChildren(path))
      for (let i = 0; i < children.length; i += AT_ONCE)
        await all(children.slice(i, i + AT_ONCE).map(name => deleteRecursive(client, join(path, name))))
      await client.retry(() => client.delete(path))
      return
    } catch (error) {
      if (isCode(error, 'NONODE')) return
      // Of a child that its own rounds did not empty: every floor would go round a hundred times for each of the floor above.
      const isOwn = error instanceof ZooKeeperError && error.path === path
      if (!isCode(error, 'NOTEMPTY') || !isOwn || round === ROUNDS) throw error
    }
  }
}

/** As Promise.all, but nothing goes on behind a rejection: what the caller does next would be undone by it. */
async function all(tasks: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
