// `zkwire create`.
import { onAbort, untilAborted } from '../../runtime/abort.ts'
import { aclFrom, forceOption } from '../nodes/acl-text.ts'
import { command, type Values } from '../runner/command.ts'
import { UsageError } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { dataOf, secondsOf } from '../runner/values.ts'

const options = {
  ephemeral: { type: 'boolean', short: 'e', help: 'an ephemeral node: keeps it until Ctrl-C' },
  sequential: { type: 'boolean', short: 's', help: 'the server appends a number to the name' },
  container: { type: 'boolean', short: 'c', help: 'a container: deleted after its last child' },
  parents: { type: 'boolean', short: 'p', help: 'also creates missing parents' },
  ttl: { type: 'string', value: 'SECONDS', help: 'deleted if it has no child and is not changed for this long' },
  acl: {
    type: 'string',
    multiple: true,
    value: 'ENTRY',
    help: 'scheme:id:cdrwa, or open, creator, read; may be repeated; default open',
  },
  force: forceOption,
} as const

export const create = command({
  name: 'create',
  summary: 'creates a node, and prints its path',
  arguments: [
    { name: 'PATH', kind: 'newPath', help: 'the node' },
    { name: 'DATA', kind: 'file', isOptional: true, help: 'its data, as for set; default: empty' },
  ],
  options,
  examples: [
    'zkwire create -p /app/colours/blue',
    'zkwire create -s /app/job- @job.json',
    'zkwire create -e /app/here',
  ],
  async run(context) {
    const { values, out, signal } = context
    const path = context.argument('PATH')
    const ttl = secondsOf('ttl', values.ttl)
    const mode = modeOf(values)
    const acl = aclFrom(values.acl, values.force)
    const text = context.optional('DATA')
    const data = text === undefined ? '' : await dataOf(text, context.stdin)
    const zk = await context.client()
    const created = await zk.create(path, data, {
      mode,
      parents: values.parents,
      ...(acl.length > 0 ? { acl } : {}),
      ttl: ttl === undefined ? undefined : Math.round(ttl * 1000),
    })
    await out.show(created, () => escaped(created.path))
    if (!values.ephemeral || !context.sessions.endsWithCommand) return
    // The server deletes the node with the session, so the session must last.
    await untilAborted(
      new Promise((_, reject) => onAbort(zk.leaseSignal, () => reject(zk.leaseSignal.reason as Error))),
      signal,
    )
  },
})

/** @throws UsageError if options exclude each other */
function modeOf({ ephemeral, sequential, container, ttl }: Values<typeof options>) {
  const kinds = { '--ephemeral': ephemeral, '--container': container, '--ttl': ttl !== undefined }
  const [kind, another] = Object.entries(kinds).flatMap(([name, isGiven]) => (isGiven ? [name] : []))
  if (kind !== undefined && another !== undefined) throw new UsageError(`${kind} and ${another} exclude each other`)
  if (container && sequential) throw new UsageError('--container and --sequential exclude each other')
  if (container) return 'container' as const
  if (ttl !== undefined) return sequential ? ('persistentSequentialTTL' as const) : ('persistentTTL' as const)
  if (ephemeral) return sequential ? ('ephemeralSequential' as const) : ('ephemeral' as const)
  return sequential ? ('persistentSequential' as const) : ('persistent' as const)
}
