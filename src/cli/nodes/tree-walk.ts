// Reads a subtree, each node before its children, with many reads in flight. This folder reads nodes, and turns them into
// text and back.
// May import: cli/runner, client/index.ts, client/recipe-support.ts, protocol/index.ts, recipes/node/owner-tag.ts,
// recipes/queue/dialect.ts.
import type { Client } from '../../client/index.ts'
import { isCode, join, parentOf } from '../../protocol/index.ts'

/** The reads that are in flight at once. More would delay the other requests of the session. */
const AHEAD = 64

export interface Visited<V> {
  readonly path: string
  /** What was read; undefined if the session may not read the node. */
  readonly value: (V & { readonly children: readonly string[] }) | undefined
}

/**
 * Yields the nodes in the order of their paths. Leaves out nodes that are deleted meanwhile.
 * @param read reads one node, with the names of its children
 * @throws ZooKeeperError NONODE, NOAUTH if the first node is missing or cannot be read
 */
export async function* walk<V>(
  root: string,
  read: (path: string) => Promise<V & { readonly children: readonly string[] }>,
): AsyncGenerator<Visited<V>, void, undefined> {
  const stack: { path: string; reading?: ReturnType<typeof read> }[] = [{ path: root }]
  for (;;) {
    for (const each of stack.slice(-AHEAD)) {
      each.reading ??= read(each.path)
      // Awaited below, if the walk gets so far.
      each.reading.catch(() => undefined)
    }
    const next = stack.pop()
    if (next?.reading === undefined) return
    const { path, reading } = next
    try {
      const value = await reading
      yield { path, value }
      for (const name of value.children.toSorted().reverse()) stack.push({ path: join(path, name) })
    } catch (error) {
      if (path === root || !isCode(error, 'NONODE', 'NOAUTH')) throw error
      if (isCode(error, 'NOAUTH')) yield { path, value: undefined }
    }
  }
}

/** Returns a function that reads the children and the Stat of a node. It waits while there is no connection. */
export const readChildren = (client: Client, signal: AbortSignal) => (path: string) =>
  client.retry(() => client.getChildren(path, { signal }), { signal })

/** Reads each of the items, and returns the results in their order. Ends at the first read that fails. */
export async function readEach<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  let hasFailed = false
  const readOn = async () => {
    while (next < items.length && !hasFailed) {
      const i = next++
      results[i] = await read(items[i] as T).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: AHEAD }, readOn))
  return results
}

/** True if the path is one of the nodes, or below one of them. */
export function isWithin(path: string, nodes: ReadonlySet<string>): boolean {
  for (let each = path; ; each = parentOf(each)) {
    if (nodes.has(each)) return true
    if (each === '/') return false
  }
}
