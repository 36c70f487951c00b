// Operations on whole subtrees. Each step may be executed twice without harm, so it is repeated on the next connection
// if the connection is lost.
import { isCode, join, parentOf, ZooKeeperError, type ACL, type Stat } from '../protocol/index.ts'
import type { Pace } from './pace.ts'
import { unlessRefused } from './unless-refused.ts'
import type { CreateOptions, SignalOption } from './validation.ts'

/** The methods of the client that this file calls. */
interface Tree {
  create(path: string, data: string, options: CreateOptions): Promise<unknown>
  delete(path: string, options: SignalOption): Promise<void>
  exists(path: string, options: SignalOption): Promise<Stat | null>
  getChildren(path: string, options: SignalOption): Promise<{ children: string[] }>
  retry<T>(task: () => Promise<T>, options: SignalOption): Promise<T>
}

interface EnsureOptions extends SignalOption {
  mode: 'persistent' | 'container'
  acl: readonly ACL[] | undefined
  /** Returns the pauses of a new loop. */
  newPace: () => Pace
}

export async function ensurePath(client: Tree, path: string, options: EnsureOptions): Promise<void> {
  const { mode, acl, signal, newPace } = options
  const pace = newPace()
  for (;;) {
    try {
      await client.retry(() => client.create(path, '', { mode, signal, acl }), { signal })
      return
    } catch (error) {
      if (isCode(error, 'NODEEXISTS')) return
      // A client without permission to create children of the parent may still see that the node exists.
      if (isCode(error, 'NOAUTH') && (await client.retry(() => isThere(client, path, signal), { signal }))) return
      if (!isCode(error, 'NONODE') || path === '/') throw error
    }
    await ensurePath(client, parentOf(path), options)
    // Starts again, because another client may have deleted the parent meanwhile.
    await pace.wait(signal)
  }
}

async function isThere(client: Tree, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  // Servers require READ on a node that exists, but nothing if it does not (ZOOKEEPER-2590, from 3.8.4 and 3.9.2 on).
  return (await unlessRefused(client.exists(path, { signal }), 'NOAUTH')) !== null
}

/** Children that other clients create meanwhile are deleted too, but only in this many rounds. */
const ROUNDS = 100

/** The most children of one node that are deleted at once, so that other callers of the session do not wait long. */
const AT_ONCE = 100

export const deleteRecursive = (client: Tree, path: string, signal: AbortSignal | undefined): Promise<void> =>
  deleteBranch(client, { name: path, parent: undefined }, signal)

/**
 * A node of the subtree. Its path is built again for each request. If each node kept its path, the nodes above a deep
 * node would need memory in proportion to the square of its depth.
 */
interface Branch {
  /** The name of the node, or the path if it is the top node. */
  readonly name: string
  readonly parent: Branch | undefined
}

function pathOf(branch: Branch): string {
  const names: string[] = []
  for (let each: Branch | undefined = branch; each !== undefined; each = each.parent) names.push(each.name)
  const [top = '', ...below] = names.reverse()
  return below.length === 0 ? top : join(top, below.join('/'))
}

async function deleteBranch(client: Tree, branch: Branch, signal: AbortSignal | undefined): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      const children = await client.retry(() => childrenOf(client, pathOf(branch), signal), { signal })
      for (let i = 0; i < children.length; i += AT_ONCE) {
        const some = children.slice(i, i + AT_ONCE)
        await all(some.map(name => deleteBranch(client, { name, parent: branch }, signal)))
      }
      await client.retry(() => client.delete(pathOf(branch), { signal }), { signal })
      return
    } catch (error) {
      if (isCode(error, 'NONODE')) return
      // NOTEMPTY of a child means that its own rounds were not enough. That ends everything, or each level would repeat
      // the rounds of the level below.
      const isOwn = error instanceof ZooKeeperError && error.path === pathOf(branch)
      if (!isCode(error, 'NOTEMPTY') || !isOwn || round === ROUNDS) throw error
    }
  }
}

/** If the server has no such node, it may lag behind. Only the delete, which the leader executes, shows that there is none. */
async function childrenOf(client: Tree, path: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  return (await unlessRefused(client.getChildren(path, { signal }), 'NONODE'))?.children ?? []
}

/**
 * Like Promise.all, but rejects only after all tasks have ended, because a task that still runs could undo what the
 * caller does next.
 */
async function all(tasks: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
