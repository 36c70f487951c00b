// `zkwire elect`.
import { hostname } from 'node:os'
import { pause } from '../../client/recipe-support.ts'
import { LeaderElection } from '../../recipes/index.ts'
import { command } from '../runner/command.ts'
import { UsageError } from '../runner/failure.ts'
import { graceOf, release, runGuarded } from '../guarded/guarded-program.ts'
import { escaped } from '../runner/text.ts'
import { secondsOf } from '../runner/values.ts'

/** The least time between two starts of the program, ms. */
const PAUSE = 1000

export const elect = command({
  name: 'elect',
  summary: 'runs a program while this process leads, again at each term, until it is stopped',
  details: [
    'CMD gets the fencing token in $ZKWIRE_TOKEN, and the path of its node in $ZKWIRE_LOCK_NODE. When the leadership ' +
      'is lost or not confirmed, CMD gets SIGTERM and SIGKILL as with zkwire lock. zkwire then campaigns ' +
      'again, also in a new session. If CMD and all that it has started end by themselves, another participant may ' +
      'lead, and zkwire campaigns again.',
    'SIGINT and SIGTERM stop zkwire: they are handed on to CMD, and when it has ended, its status is that of zkwire. ' +
      'Other signals are only handed on.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node of the election; missing nodes are created' }],
  options: {
    id: { type: 'string', value: 'TEXT', help: 'the name of this participant; default: host and process id' },
    grace: {
      type: 'string',
      value: 'SECONDS',
      help: 'how long CMD has to end; default: a sixth of the session timeout, at most a third',
    },
  },
  takesProgram: true,
  endsItself: true,
  hasJson: false,
  examples: ['zkwire elect /election/scheduler --id host-1 -- ./scheduler'],
  async run(context) {
    const { values, program: words, clock, err, signal } = context
    const path = context.argument('PATH')
    if (words.length === 0) throw new UsageError('there is no program: write it after --')
    const given = secondsOf('grace', values.grace, 0)
    const id = values.id ?? `${hostname()} ${process.pid}`
    const say = (text: string) => err.notice(`zkwire elect: ${text}`)
    const lost = `${escaped(path)}: not the leader any more`
    let isStopped = false
    const onSignal = (name: NodeJS.Signals) => void (isStopped ||= name === 'SIGINT' || name === 'SIGTERM')
    return context.sessions.supervise(async (client, ended) => {
      const grace = graceOf(given, client)
      const election = new LeaderElection(client, path, { id })
      for (;;) {
        const startedAt = clock.now()
        const held = await election.campaign({ signal: ended })
        say(`${escaped(path)}: leading with token ${held.token}`)
        try {
          const { status } = await runGuarded(context, { client, held, grace, onSignal, say, lost })
          if (isStopped) return status
          say(`${escaped(words[0] ?? '')} ended with status ${status}`)
        } finally {
          await release(held, client, signal)
        }
        // A program that cannot work must not fill the log of the servers.
        await pause(client, Math.max(0, startedAt + PAUSE - clock.now()), ended)
      }
    }, signal)
  },
})
