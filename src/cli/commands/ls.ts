// `zkwire ls`.
import { isCode, join, nameOf, type Stat } from '../../protocol/index.ts'
import { command } from '../runner/command.ts'
import { aligned, statColumns } from '../nodes/stat-text.ts'
import { escaped } from '../runner/text.ts'
import { readChildren, readEach, walk } from '../nodes/tree-walk.ts'

export const ls = command({
  name: 'ls',
  summary: 'lists the children of a node',
  details: ['-l prints for each node e if it is ephemeral, its version, bytes, children, and time of the last change.'],
  arguments: [{ name: 'PATH', kind: 'path', isOptional: true, help: 'the node; default: the current node, /' }],
  options: {
    long: { type: 'boolean', short: 'l', help: 'prints what is known of each node' },
    recursive: { type: 'boolean', short: 'R', help: 'lists all nodes below the node, by their paths' },
  },
  examples: ['zkwire ls /app', 'zkwire ls -lR /app'],
  async run({ optional, values, client, out, signal, host }) {
    const path = optional('PATH') ?? host.resolve('.')
    const zk = await client()
    // The name is the path with -R.
    const listed: { readonly name: string; readonly stat?: Stat | null }[] = []
    if (values.recursive) {
      for await (const { path: below, value } of walk(path, readChildren(zk, signal)))
        if (below !== path) listed.push({ name: below, ...(values.long ? { stat: value?.stat ?? null } : {}) })
    } else {
      const { children } = await readChildren(zk, signal)(path)
      const stats = values.long ? await readEach(children, name => statOf(join(path, name))) : []
      children.forEach((name, i) => {
        const stat = stats[i]
        // A node that was deleted since the list was read.
        if (stat !== undefined || !values.long) listed.push({ name, ...(stat === undefined ? {} : { stat }) })
      })
      listed.sort((a, b) => (a.name < b.name ? -1 : 1))
    }
    const paint = (name: string) => (nameOf(name) === '' ? name : out.paint('blue', escaped(name)))
    await out.show(
      listed.map(({ name, stat }) => (values.long ? { name, stat } : name)),
      () => {
        if (!values.long) return listed.map(({ name }) => paint(name))
        const rows = listed.map(({ stat }) => (stat ? statColumns(stat) : ['?']))
        return aligned(rows).map((row, i) => `${row}  ${paint(listed[i]?.name ?? '')}`)
      },
    )

    /** Resolves with null if the session may not read the node, and with undefined if it is gone. */
    async function statOf(node: string): Promise<Stat | null | undefined> {
      try {
        return (await zk.retry(() => zk.exists(node, { signal }), { signal })) ?? undefined
      } catch (error) {
        if (isCode(error, 'NOAUTH')) return null
        throw error
      }
    }
  },
})
