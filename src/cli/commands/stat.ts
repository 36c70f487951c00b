// `zkwire stat`.
import { ZooKeeperError } from '../../protocol/index.ts'
import { command } from '../runner/command.ts'
import { aligned, statRows } from '../nodes/stat-text.ts'

export const stat = command({
  name: 'stat',
  summary: 'prints what the server knows of a node: times, versions, sizes, owner',
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node' }],
  options: {},
  async run({ argument, client, out, signal }) {
    const path = argument('PATH')
    const zk = await client()
    const stat = await zk.exists(path, { signal })
    if (stat === null) throw new ZooKeeperError('NONODE', { op: 'stat', path, fate: 'refused' })
    await out.show({ path, stat }, () => aligned(statRows(stat).map(([name, value]) => [name, `= ${value}`])))
  },
})
