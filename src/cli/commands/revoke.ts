// `zkwire revoke`.
import { unlessRefused } from '../../client/recipe-support.ts'
import { hex64 } from '../../protocol/index.ts'
import { revoke as ask } from '../../recipes/index.ts'
import { command } from '../runner/command.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { contendersAt, holdersOf, type Contender } from '../nodes/contenders.ts'
import { aligned } from '../nodes/stat-text.ts'
import { escaped } from '../runner/text.ts'

export const revoke = command({
  name: 'revoke',
  summary: 'asks the holders of a lock to release it, or takes it from them',
  details: [
    'Asks by a write to the node of each holder, as Curator does. A holder hears of it only if its program listens: by ' +
      'held.revoked with watchOwnNode, or as a revocable lock of Curator. It decides itself whether it releases the lock.',
    'With --force, deletes the nodes instead, so the next contender has the lock at once. A holder that does not watch ' +
      'its node, or that is stopped, goes on without the lock: be sure that it does no harm, or end its process first.',
    'Ends with 1 if nobody holds the lock, or if PATH is no lock.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node of the lock' }],
  options: { force: { type: 'boolean', short: 'f', help: 'deletes the nodes of the holders' } },
  examples: ['zkwire revoke /locks/backup', 'zkwire revoke --force /locks/backup'],
  async run({ argument, values, client, out, signal }) {
    const path = argument('PATH')
    const zk = await client()
    const contenders = await contendersAt(zk, path, { signal })
    // The items of a queue have names of contenders too, and are not ephemeral.
    const holders = contenders.slice(0, holdersOf(contenders)).filter(({ session }) => session !== hex64(0n))
    if (holders.length === 0) throw new CommandError(statuses.refused, `nobody holds ${path}`)
    const take = (node: string) =>
      unlessRefused(
        zk.retry(() => zk.delete(node, { signal }), { signal }),
        'NONODE',
      )
    const askOrTake = async ({ node, session, id }: Contender) => {
      // A node that is gone meanwhile is as good as one that is deleted here.
      if (values.force) await take(node)
      const isThere = values.force || (await ask(zk, node, { signal }))
      return { done: values.force ? 'deleted' : isThere ? 'asked' : 'released', node, session, id }
    }
    const done = await Promise.all(holders.map(askOrTake))
    await out.show(done, () => aligned(done.map(each => [each.done, each.session, each.node, escaped(each.id)])))
  },
})
