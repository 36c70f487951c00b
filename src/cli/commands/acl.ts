// `zkwire acl`.
import { aclFrom, aclText } from '../nodes/acl-text.ts'
import { command } from '../runner/command.ts'
import { UsageError } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { wholeNumberOf } from '../runner/values.ts'

export const acl = command({
  name: 'acl',
  summary: 'prints the ACL of a node, or replaces it',
  arguments: [
    { name: 'PATH', kind: 'path', help: 'the node' },
    { name: 'ENTRY', isOptional: true, isRepeated: true, help: 'the new ACL: scheme:id:cdrwa, or open, creator, read' },
  ],
  options: {
    version: { type: 'string', short: 'v', value: 'N', help: 'refuses if the ACL has another version (aversion)' },
  },
  examples: ['zkwire acl /app', 'zkwire acl /app world:anyone:r creator --auth @credentials'],
  async run({ argument, all, values, client, out }) {
    const path = argument('PATH')
    const entries = aclFrom(all('ENTRY'))
    const version = wholeNumberOf('version', values.version, 0)
    if (version !== undefined && entries.length === 0) throw new UsageError('--version needs a new ACL')
    const zk = await client()
    if (entries.length > 0) await zk.setACL(path, entries, { version: version ?? -1 })
    const { acl, stat } = await zk.getACL(path)
    await out.show({ path, acl: acl.map(aclText), stat }, () => acl.map(entry => escaped(aclText(entry))))
  },
})
