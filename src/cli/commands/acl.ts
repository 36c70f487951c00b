// `zkwire acl`.
import { unlessRefused } from '../../client/recipe-support.ts'
import { aclFrom, aclText, canBeChanged, forceOption } from '../nodes/acl-text.ts'
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
    force: forceOption,
  },
  examples: [
    'zkwire acl /app',
    'zkwire acl /app sasl:bob:cdrwa,world:anyone:r',
    'zkwire acl /app world:anyone:r creator --auth @credentials',
  ],
  async run({ argument, all, values, client, out, err }) {
    const path = argument('PATH')
    const entries = aclFrom(all('ENTRY'), values.force)
    const version = wholeNumberOf('version', values.version, 0)
    if (version !== undefined && entries.length === 0) throw new UsageError('--version needs a new ACL')
    // The ACL `read` by its name is meant so.
    const isMeant = values.force || entries.length === 0 || all('ENTRY').join() === 'read'
    if (!isMeant && !canBeChanged(entries))
      throw new UsageError(
        'no entry grants the permission a, so nobody but a superuser could change the ACL again: add an entry such as ' +
          'auth::cdrwa or world:anyone:a, or give --force',
      )
    const zk = await client()
    const set = entries.length > 0 ? await zk.setACL(path, entries, { version: version ?? -1 }) : undefined
    const reading = zk.getACL(path)
    // An ACL that this session may not read any more was set all the same.
    const read = set === undefined ? await reading : await unlessRefused(reading, 'NOAUTH')
    if (read === undefined) await err.line('zkwire acl: the ACL is set, and this session may not read it')
    const { acl, stat } = read ?? { acl: entries, stat: set }
    await out.show({ path, acl: acl.map(aclText), stat }, () => acl.map(entry => escaped(aclText(entry))))
  },
})
