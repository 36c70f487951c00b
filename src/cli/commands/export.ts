// `zkwire export`.
import { serverPath } from '../../client/recipe-support.ts'
import { command } from '../runner/command.ts'
import { isHidden, lineOf } from '../nodes/exported-node.ts'
import { escaped } from '../runner/text.ts'
import { walk } from '../nodes/tree-walk.ts'

export const exportNodes = command({
  name: 'export',
  summary: 'writes a subtree to stdout, a line of JSON for each node, for zkwire import',
  details: [
    'Each line has path, data (or hex, if it is no UTF-8) and acl. Ephemeral nodes, /zookeeper, and nodes that the ' +
      'session may not read are left out; their numbers are printed to stderr. Servers do not tell clients which nodes ' +
      'are containers or have a ttl, so these become persistent.',
    'The subtree is read node by node. Changes that other clients make meanwhile may be in it or not.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node' }],
  options: {},
  hasJson: false,
  examples: ['zkwire export /app > app.jsonl', 'zkwire export /app | zkwire import --to /copy'],
  async run({ argument, client, out, err, signal }) {
    const path = argument('PATH')
    const zk = await client()
    const counts = { nodes: 0, ephemeral: 0, unreadable: 0, system: 0, hidden: 0 }
    const isSystem = (node: string) => /^\/zookeeper(\/|$)/.test(serverPath(zk, node))
    const read = async (node: string) => {
      if (node !== path && isSystem(node)) return { children: [], node: undefined }
      const [{ data, stat }, { acl }, { children }] = await Promise.all([
        zk.getData(node, { signal }),
        zk.getACL(node),
        zk.getChildren(node, { signal }),
      ])
      return { children, node: { data, stat, acl } }
    }
    for await (const { path: each, value } of walk(path, read)) {
      if (value === undefined) counts.unreadable++
      else if (value.node === undefined) counts.system++
      else if (value.node.stat.ephemeralOwner !== 0n) counts.ephemeral++
      else {
        counts.nodes++
        if (value.node.acl.some(isHidden)) counts.hidden++
        await out.line(lineOf({ path: each, ...value.node }))
      }
    }
    const { nodes, ephemeral, unreadable, system, hidden } = counts
    const left = [
      ...(ephemeral > 0 ? [`${ephemeral} ephemeral`] : []),
      ...(unreadable > 0 ? [`${unreadable} unreadable`] : []),
      ...(system > 0 ? ['/zookeeper'] : []),
    ]
    await err.line(
      `zkwire export: ${nodes} nodes of ${escaped(path)}${left.length > 0 ? `; left out: ${left.join(', ')}` : ''}` +
        (hidden > 0 ? `; the ACLs of ${hidden} nodes are hidden, and cannot be imported` : ''),
    )
  },
})
