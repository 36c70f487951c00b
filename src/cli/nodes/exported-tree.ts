// The nodes of a subtree that an export contains.
import type { Client } from '../../client/index.ts'
import { serverPath } from '../../client/recipe-support.ts'
import { isHidden, type ExportedNode } from './exported-node.ts'
import { walk } from './tree-walk.ts'

/**
 * What was read: `nodes` were yielded, `hidden` of them with an ACL that is hidden, and the others were left out.
 * `unreadable` has the paths of the nodes that the session may not read: what is below them is unknown.
 */
export const newCounts = () => ({ nodes: 0, ephemeral: 0, unreadable: [] as string[], system: 0, hidden: 0 })

/**
 * Yields the nodes in the order of their paths, without ephemeral nodes, /zookeeper, and nodes that the session may not
 * read. Waits while there is no connection.
 * @param counts is changed with each node
 * @throws ZooKeeperError NONODE, NOAUTH if the first node is missing or cannot be read
 */
export async function* exportedNodes(
  zk: Client,
  root: string,
  counts: ReturnType<typeof newCounts>,
  signal: AbortSignal,
): AsyncGenerator<Pick<ExportedNode, 'path' | 'data' | 'acl'>, void, undefined> {
  const isSystem = (node: string) => /^\/zookeeper(\/|$)/.test(serverPath(zk, node))
  const read = async (node: string) => {
    if (node !== root && isSystem(node)) return { children: [], node: undefined }
    const readAll = () => Promise.all([zk.getData(node, { signal }), zk.getACL(node), zk.getChildren(node, { signal })])
    const [{ data, stat }, { acl }, { children }] = await zk.retry(readAll, { signal })
    return { children, node: { data, stat, acl } }
  }
  for await (const { path, value } of walk(root, read)) {
    if (value === undefined) counts.unreadable.push(path)
    else if (value.node === undefined) counts.system++
    else if (value.node.stat.ephemeralOwner !== 0n) counts.ephemeral++
    else {
      counts.nodes++
      const { data, acl } = value.node
      if (acl.some(isHidden)) counts.hidden++
      yield { path, data, acl }
    }
  }
}
