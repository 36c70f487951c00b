// `zkwire sync`.
import { command } from '../runner/command.ts'

export const sync = command({
  name: 'sync',
  summary: 'waits until the server has caught up with the leader',
  details: ['Useful in a shell: later reads of the session see all that was committed before.'],
  arguments: [{ name: 'PATH', kind: 'path', isOptional: true, help: 'a node; servers ignore which one; default /' }],
  options: {},
  hasJson: false,
  async run({ optional, client }) {
    const zk = await client()
    await zk.sync(optional('PATH') ?? '/')
  },
})
