// Operations on whole subtrees. Each step may be executed twice without harm, so it is repeated on the next connection
// if the connection is lost.
import { isCode, join, type ACL, type Stat } from '../protocol/index.ts'
import { specialPaths } from '../protocol/special-paths.ts'
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

/** What nodes are created with. */
export interface Levels extends SignalOption {
  mode: 'persistent' | 'container'
  /** The ACL of the last node. Default: the client's. */
  acl?: readonly ACL[] | undefined
  /** The ACL of the nodes above it. Default: the client's. */
  aclAbove?: readonly ACL[] | undefined
}

/** The most levels that are created by requests in one packet. */
const MOST_LEVELS = 50

export async function ensurePath(client: Tree, path: string, options: Levels & { newPace: () => Pace }): Promise<void> {
  const { mode, acl, signal, newPace } = options
  const pace = newPace()
  for (;;) {
    try {
      await client.retry(() => client.create(path, '', { mode, signal, acl }), { signal })
      return
    } catch (error) {
      if (await isRefusedBecauseThere(client, path, error, signal)) return
      if (!isCode(error, 'NONODE') || path === '/') throw error
    }
    if (await client.retry(() => createLevels(client, path, options), { signal })) return
    // Starts again, because another client has deleted a node above meanwhile.
    await pace.wait(signal)
  }
}

/**
 * Creates a node that is missing and the nodes above it, by requests that it sends together before it returns. The
 * server executes them in order, so all levels take one round trip; more than {@link MOST_LEVELS} take more.
 * @returns false if a node above was deleted meanwhile
 * @throws the error of the first node that could not be created
 */
export async function createLevels(
  client: Tree,
  path: string,
  { mode, acl, aclAbove, signal }: Levels,
): Promise<boolean> {
  const all = levelsOf(path)
  const above = all.at(-MOST_LEVELS - 1)
  if (above !== undefined && !(await createLevels(client, above, { mode, acl: aclAbove, aclAbove, signal })))
    return false
  const levels = all.slice(-MOST_LEVELS)
  const outcomes = await Promise.allSettled(
    levels.map(level => client.create(level, '', { mode, signal, acl: level === path ? acl : aclAbove })),
  )
  const errors = outcomes.map(outcome => (outcome.status === 'rejected' ? (outcome.reason as Error) : undefined))
  const firstMissing = errors.findIndex(error => isCode(error, 'NONODE'))
  if (firstMissing === 0) return false
  // The node above the first that lacks its parent says why that is missing.
  const isDone = firstMissing < 0
  const last = isDone ? levels.length - 1 : firstMissing - 1
  const error = errors[last]
  if (error === undefined || isCode(error, 'NODEEXISTS')) return isDone
  if (isDone && (await isRefusedBecauseThere(client, path, error, signal))) return true
  throw error
}

/** Returns the path of each node on the way from below the root to a node. */
function levelsOf(path: string): string[] {
  const names = path.split('/').slice(1)
  return names.map((_, i) => `/${names.slice(0, i + 1).join('/')}`)
}

async function isRefusedBecauseThere(
  client: Tree,
  path: string,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (isCode(error, 'NODEEXISTS')) return true
  // A client without permission to create children of the parent may still see that the node exists.
  return isCode(error, 'NOAUTH') && client.retry(() => isThere(client, path, signal), { signal })
}

async function isThere(client: Tree, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  // Servers require READ on a node that exists, but nothing if it does not (ZOOKEEPER-2590, from 3.8.4 and 3.9.2 on).
  return (await unlessRefused(client.exists(path, { signal }), 'NOAUTH')) !== null
}

/** Children that other clients create meanwhile are deleted too, but only in this many rounds. */
const ROUNDS = 100

/** The most requests that one call has in flight, so that other callers of the session do not wait long. */
const AT_ONCE = 100

/**
 * Returns why the node cannot be deleted with all below it, or undefined. It is checked first, because otherwise
 * everything below would be deleted before the server refuses the node itself (PrepRequestProcessor.checkPathNotSpecial).
 * @param full the path with the chroot
 */
export const deletionProblem = (full: string): string | undefined =>
  specialPaths.has(full) ? `servers never delete ${full}: delete the nodes below it` : undefined

export const deleteRecursive = (client: Tree, path: string, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => new Deletion(client, signal, resolve, reject).begin(newBranch(path, undefined)))

/**
 * A node of the subtree. Its path is built again for each request. If each node kept its path, the nodes above a deep
 * node would need memory in proportion to the square of its depth.
 */
interface Branch {
  /** The name of the node, or the path if it is the top node. */
  readonly name: string
  readonly parent: Branch | undefined
  /** Counts how often its children were listed. */
  round: number
  /** The children that are known. Those before `next` have been begun, and `left` are not deleted yet. */
  children: readonly string[]
  next: number
  left: number
}

const newBranch = (name: string, parent: Branch | undefined): Branch => ({
  ...{ name, parent, round: 1 },
  ...{ children: NO_NAMES, next: 0, left: 0 },
})

const NO_NAMES: readonly string[] = []

function pathOf(branch: Branch): string {
  const names: string[] = []
  for (let each: Branch | undefined = branch; each !== undefined; each = each.parent) names.push(each.name)
  const [top = '', ...below] = names.reverse()
  return below.length === 0 ? top : join(top, below.join('/'))
}

/** One call of deleteRecursive(). Goes on with the deepest node that it knows, so that it need not know all at once. */
class Deletion {
  readonly #client: Tree
  readonly #signal: AbortSignal | undefined
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void
  /** The nodes with children that are not begun. The deepest are the last ones. */
  readonly #open: Branch[] = []
  /** The number of requests in flight. */
  #active = 0
  /** The first error. */
  #failure: { readonly error: unknown } | undefined
  /** True if no further node is begun. */
  #hasEnded = false

  constructor(client: Tree, signal: AbortSignal | undefined, resolve: () => void, reject: (error: unknown) => void) {
    this.#client = client
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Begins a node. Settles the call when no request is in flight and no node is left. */
  begin(branch: Branch): void {
    this.#active++
    void this.#clear(branch)
      .catch((error: unknown) => {
        this.#failure ??= { error }
        // The rest of the subtree is deleted if the session may not delete a part of it.
        this.#hasEnded ||= !isCode(error, 'NOAUTH')
      })
      .then(() => {
        this.#active--
        this.#goOn()
      })
  }

  /**
   * Begins further nodes. If one has failed, rejects only when all requests have ended, because one that is in flight
   * could undo what the caller does next.
   */
  #goOn(): void {
    while (this.#active < AT_ONCE && !this.#hasEnded) {
      const parent = this.#open.at(-1)
      if (parent === undefined) break
      const name = parent.children[parent.next++] ?? ''
      if (parent.next === parent.children.length) {
        this.#open.pop()
        parent.children = NO_NAMES
      }
      this.begin(newBranch(name, parent))
    }
    if (this.#active > 0) return
    if (this.#failure === undefined) this.#resolve()
    else this.#reject(this.#failure.error)
  }

  /** Deletes the node if it has no child. Otherwise its children are begun later. */
  async #clear(branch: Branch): Promise<void> {
    const children = await this.#retry(client => childrenOf(client, pathOf(branch), this.#signal))
    if (children.length === 0) return this.#delete(branch)
    Object.assign(branch, { children, next: 0, left: children.length })
    this.#open.push(branch)
  }

  /** Deletes a node whose children are deleted, and then the node above it if this was its last child. */
  async #delete(branch: Branch): Promise<void> {
    try {
      await this.#retry(client => client.delete(pathOf(branch), { signal: this.#signal }))
    } catch (error) {
      // Another client has created a child since the children were listed. The last round ends everything, or each level
      // would repeat the rounds of the level below.
      if (isCode(error, 'NOTEMPTY') && branch.round++ < ROUNDS) return this.#clear(branch)
      if (!isCode(error, 'NONODE')) throw error
    }
    const { parent } = branch
    if (parent !== undefined && --parent.left === 0) await this.#delete(parent)
  }

  #retry<T>(task: (client: Tree) => Promise<T>): Promise<T> {
    return this.#client.retry(() => task(this.#client), { signal: this.#signal })
  }
}

/** If the server has no such node, it may lag behind. Only the delete, which the leader executes, shows that there is none. */
async function childrenOf(client: Tree, path: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  return (await unlessRefused(client.getChildren(path, { signal }), 'NONODE'))?.children ?? []
}
