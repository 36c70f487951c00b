// `zkwire du`.
import type { Client } from '../../client/index.ts'
import { isCode, join } from '../../protocol/index.ts'
import { serverPath } from '../../client/recipe-support.ts'
import { command } from '../runner/command.ts'
import { aligned } from '../nodes/stat-text.ts'
import { escaped } from '../runner/text.ts'
import { readChildren, walk } from '../nodes/tree-walk.ts'

interface Usage {
  path: string
  nodes: number
  bytes: number
  ephemerals: number
}

export const du = command({
  name: 'du',
  summary: 'counts the nodes and bytes of a subtree, and prints its quota',
  details: [
    'Prints nodes, bytes of data and ephemeral nodes for each child, with all nodes below it, and for the node itself. ' +
      'A quota is printed with the counts of the server; a limit of -1 is none.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', isOptional: true, help: 'the node; default: the current node, /' }],
  options: { summarize: { type: 'boolean', short: 's', help: 'prints only the line of the node itself' } },
  examples: ['zkwire du /app'],
  async run({ optional, values, client, out, err, signal, host }) {
    const path = optional('PATH') ?? host.resolve('.')
    const zk = await client()
    const total: Usage = { path, nodes: 0, bytes: 0, ephemerals: 0 }
    const children: Usage[] = []
    let unreadable = 0
    const prefix = path === '/' ? '/' : `${path}/`
    for await (const { path: each, value } of walk(path, readChildren(zk, signal))) {
      if (value === undefined) unreadable++
      const isChild = each !== path && !each.slice(prefix.length).includes('/')
      if (isChild) children.push({ path: each, nodes: 0, bytes: 0, ephemerals: 0 })
      for (const usage of each === path ? [total] : [total, children.at(-1)]) {
        if (usage === undefined) continue
        usage.nodes++
        usage.bytes += value?.stat.dataLength ?? 0
        usage.ephemerals += value === undefined || value.stat.ephemeralOwner === 0n ? 0 : 1
      }
    }
    const quota = await quotaOf(zk, path)
    await out.show({ ...total, children, unreadable, quota }, () => [
      ...aligned([
        ['nodes', 'bytes', 'ephemeral', 'path'],
        ...[...(values.summarize ? [] : children), total].map(({ path, nodes, bytes, ephemerals }) => [
          ...[nodes, bytes, ephemerals].map(String),
          escaped(path),
        ]),
      ]),
      ...(quota === undefined ? [] : [`quota  ${escaped(quota.limits)}`, `counts ${escaped(quota.counts)}`]),
    ])
    if (unreadable > 0)
      await err.line(`zkwire du: ${unreadable} nodes cannot be read, and are counted without their children`)
  },
})

/** Reads the quota of a path, as the server keeps it below /zookeeper/quota. */
async function quotaOf(zk: Client, path: string): Promise<{ limits: string; counts: string } | undefined> {
  // Below the server's root, which a chroot hides.
  const full = serverPath(zk, path)
  if (full !== path) return undefined
  const read = async (name: string) => {
    const { data } = await zk.retry(() => zk.getData(join(`/zookeeper/quota${full}`, name)))
    return String(data ?? '')
  }
  try {
    const [limits, counts] = await Promise.all([read('zookeeper_limits'), read('zookeeper_stats')])
    return { limits, counts }
  } catch (error) {
    if (isCode(error, 'NONODE', 'NOAUTH') || full === '/') return undefined
    throw error
  }
}
