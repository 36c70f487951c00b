// `zkwire diff`.
import { createReadStream } from 'node:fs'
import { connect, type Client } from '../../client/index.ts'
import { command } from '../runner/command.ts'
import { statuses, UsageError } from '../runner/failure.ts'
import { OutageNotices } from '../runner/outage-notices.ts'
import { escaped } from '../runner/text.ts'
import { aclText } from '../nodes/acl-text.ts'
import type { ExportedNode } from '../nodes/exported-node.ts'
import { exportedNodes, newCounts } from '../nodes/exported-tree.ts'
import { moved } from '../nodes/import-batches.ts'
import { ImportedNodes } from '../nodes/imported-nodes.ts'
import { isWithin } from '../nodes/tree-walk.ts'

type Node = Pick<ExportedNode, 'path' | 'data' | 'acl'>

interface Difference {
  /** Below the first node of each side, which is /. */
  readonly path: string
  readonly is: '-' | '+' | '~'
  /** What differs: data, acl. Empty if one side lacks the node. */
  readonly fields: readonly string[]
}

export const diff = command({
  name: 'diff',
  summary: 'compares two subtrees, of one server or of two, or a subtree with an export',
  details: [
    'Prints - for a node that only the first subtree has, + for one that only the second has, and ~ for one whose data or ' +
      'ACL differ. Paths are those below the first subtree. Nodes that zkwire export leaves out are not compared, and ' +
      'the second subtree is kept in memory. Ends with 0 if there is no difference, and with 1 if there are some.',
  ],
  arguments: [
    { name: 'PATH', kind: 'path', help: 'the first node' },
    { name: 'OTHER', kind: 'path', isOptional: true, help: 'the second node; default: PATH' },
  ],
  options: {
    with: {
      type: 'string',
      short: 'w',
      value: 'HOSTS',
      help: 'the server of the second node; default: that of the first',
    },
    file: { type: 'string', short: 'f', value: 'FILE', help: 'compares with a file of zkwire export; - is stdin' },
  },
  examples: ['zkwire diff /app /copy', 'zkwire diff /app --with staging:2181', 'zkwire diff /app --file app.jsonl'],
  async run(context) {
    const { values, out, err, sessions, signal } = context
    const path = context.argument('PATH')
    const other = context.optional('OTHER')
    if (values.file !== undefined && (other !== undefined || values.with !== undefined))
      throw new UsageError('--file excludes --with and OTHER: the first line of the file says what is compared')
    if (other === undefined && values.file === undefined && values.with === undefined)
      throw new UsageError('there is nothing to compare with: give OTHER, --with or --file')
    const zk = await context.client()
    const { options } = await sessions.target()
    const first = subtree(zk, path, signal)
    let another: Side
    let differences: Difference[]
    const notices = new OutageNotices(text => err.notice(`zkwire diff: ${text}`), context.clock)
    let second: Client | undefined
    try {
      if (values.with !== undefined) second = await connect(values.with, notices.addTo({ ...options, signal }))
      another =
        values.file === undefined
          ? subtree(second ?? zk, other ?? path, signal)
          : new ImportedNodes(values.file === '-' ? context.stdin : await opened(values.file), '/')
      differences = await differencesOf(first, another)
      if (another.partProblem !== undefined) throw new UsageError(another.partProblem)
    } finally {
      await second?.close()
      notices.stop()
    }
    const unread = new Set([...first.unreadable, ...another.unreadable])
    const hidden = (first.hidden ?? 0) + (another.hidden ?? 0)
    // A side that lacks such a node only because it could not be read does not differ.
    const found = differences.filter(each => !isWithin(each.path, unread))
    const shown = found.map(each => ({ ...each, path: moved(each.path, '/', path) ?? each.path }))
    await out.show(shown, () => shown.map(({ path, is, fields }) => [is, escaped(path), ...fields].join('  ')))
    if (unread.size > 0) await err.line(`zkwire diff: ${unread.size} nodes cannot be read, and are not compared`)
    if (hidden > 0) await err.line(`zkwire diff: the ACLs of ${hidden} nodes are hidden, and may differ unnoticed`)
    return found.length > 0 ? statuses.refused : statuses.ok
  },
})

/** One side. Its nodes have paths below the first one, which is /. */
interface Side extends AsyncIterable<Node> {
  /** The nodes that are left out because they cannot be read, with all nodes below them. Known after the last node. */
  readonly unreadable: readonly string[]
  /** Says why there may be more nodes. Known after the last node. */
  readonly partProblem?: string | undefined
  /** The number of nodes whose ACL is hidden. */
  readonly hidden?: number
}

/** Returns a subtree of a server. */
function subtree(client: Client, root: string, signal: AbortSignal): Side {
  const counts = newCounts()
  const placed = (path: string) => moved(path, root, '/') ?? path
  return {
    async *[Symbol.asyncIterator]() {
      for await (const node of exportedNodes(client, root, counts, signal)) yield { ...node, path: placed(node.path) }
    },
    get unreadable() {
      return counts.unreadable.map(placed)
    },
    get hidden() {
      return counts.hidden
    },
  }
}

/** Returns the differences in the order of their paths. */
async function differencesOf(first: Side, second: Side): Promise<Difference[]> {
  const others = new Map<string, Node>()
  for await (const node of second) others.set(node.path, node)
  const found: Difference[] = []
  for await (const node of first) {
    const { path } = node
    const other = others.get(path)
    others.delete(path)
    const fields = other === undefined ? [] : changedFields(node, other)
    if (other === undefined || fields.length > 0) found.push({ path, is: other === undefined ? '-' : '~', fields })
  }
  for (const path of others.keys()) found.push({ path, is: '+', fields: [] })
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function changedFields(one: Node, another: Node): string[] {
  const entries = ({ acl }: Node) => acl.map(aclText).sort().join()
  const hasSameData =
    one.data === null || another.data === null ? one.data === another.data : one.data.equals(another.data)
  return [...(hasSameData ? [] : ['data']), ...(entries(one) === entries(another) ? [] : ['acl'])]
}

/** @throws UsageError if the file cannot be read */
function opened(file: string): Promise<NodeJS.ReadableStream> {
  const stream = createReadStream(file)
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream))
    stream.once('error', (error: Error & { code?: string }) =>
      reject(new UsageError(`--file: cannot read ${file} (${error.code ?? 'unknown'})`)),
    )
  })
}
