// `zkwire export`.
import { command } from '../runner/command.ts'
import { endLineOf, lineOf } from '../nodes/exported-node.ts'
import { exportedNodes, newCounts } from '../nodes/exported-tree.ts'
import { escaped } from '../runner/text.ts'

export const exportNodes = command({
  name: 'export',
  summary: 'writes a subtree to stdout, a line of JSON for each node, for zkwire import',
  details: [
    'Each line has path, data (or hex, if it is no UTF-8) and acl. The last line counts the nodes, and names those that ' +
      'the session may not read: without it, the export is not whole, and zkwire import says so. Ephemeral nodes, /zookeeper, and nodes that the ' +
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
    const counts = newCounts()
    for await (const node of exportedNodes(zk, path, counts, signal)) await out.line(lineOf(node))
    await out.line(endLineOf(counts))
    const { nodes, ephemeral, unreadable, system, hidden } = counts
    const left = [
      ...(ephemeral > 0 ? [`${ephemeral} ephemeral`] : []),
      ...(unreadable.length > 0 ? [`${unreadable.length} unreadable`] : []),
      ...(system > 0 ? ['/zookeeper'] : []),
    ]
    await err.line(
      `zkwire export: ${nodes} nodes of ${escaped(path)}${left.length > 0 ? `; left out: ${left.join(', ')}` : ''}` +
        (hidden > 0 ? `; the ACLs of ${hidden} nodes are hidden, and cannot be imported` : ''),
    )
  },
})
