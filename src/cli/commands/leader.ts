// `zkwire leader`.
import type { Client } from '../../client/index.ts'
import { unlessRefused } from '../../client/recipe-support.ts'
import { hex64 } from '../../protocol/index.ts'
import { LeaderElection, type Participant } from '../../recipes/index.ts'
import { command } from '../runner/command.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { escaped, timeText } from '../runner/text.ts'

export const leader = command({
  name: 'leader',
  summary: "prints the leader of an election: one of zkwire elect, LeaderElection or Curator's LeaderLatch",
  details: ['Ends with 1 if there is no leader. For other locks, see zkwire who.'],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node of the election' }],
  options: { follow: { type: 'boolean', short: 'f', help: 'prints each new leader too, until Ctrl-C' } },
  examples: ['zkwire leader /election/scheduler', 'zkwire leader -f --json /election/scheduler'],
  async run({ argument, values, sessions, client, out, signal }) {
    const path = argument('PATH')
    const print = async (zk: Client, current: Participant | null) => {
      const stat = current && (await zk.retry(() => zk.exists(current.path, { signal }), { signal }))
      const since = stat && timeText(stat.ctime)
      const shown = current && { id: current.id, session: hex64(current.session), since, node: current.path }
      await out.show({ leader: shown }, () =>
        current === null
          ? 'no leader'
          : `${escaped(current.id) || '(no id)'}  session ${hex64(current.session)}  since ${since ?? 'a moment'}`,
      )
    }
    if (values.follow) {
      await sessions.supervise(async (zk, ended) => {
        for await (const each of new LeaderElection(zk, path).changes({ signal: ended })) {
          if (each === null) await refuseOther(zk, path, ended)
          await print(zk, each)
        }
      }, signal)
      return statuses.ok
    }
    const zk = await client()
    const current = await new LeaderElection(zk, path).leader()
    if (current === null) await refuseOther(zk, path, signal)
    if (current === null && !out.isJson) throw new CommandError(statuses.refused, `${escaped(path)} has no leader`)
    await print(zk, current)
    return current === null ? statuses.refused : statuses.ok
  },
})

/** @throws CommandError if the node is an election of another kind, or none, because it may have a leader then */
async function refuseOther(zk: Client, path: string, signal: AbortSignal): Promise<void> {
  const names =
    (
      await unlessRefused(
        zk.retry(() => zk.getChildren(path, { signal }), { signal }),
        'NONODE',
      )
    )?.children ?? []
  const [other] = names
  // A participant may have come meanwhile.
  if (other === undefined || names.some(name => PARTICIPANT.test(name))) return
  throw new CommandError(
    statuses.refused,
    `${path} is no election that zkwire knows: its children, such as ${other}, are no participants; see zkwire who, ls -l`,
  )
}

const PARTICIPANT = /-latch--?\d{10}$/
