// `zkwire herds`.
import { pause } from '../../runtime/pause.ts'
import { herdsAmong, notificationsIn } from '../capture/captured-herds.ts'
import { CaptureError } from '../capture/packet.ts'
import { askAll, requireAnswers, type Asked } from '../diagnosis/ask-all.ts'
import { herdsIn, type Herd, type WatchSample } from '../diagnosis/herds.ts'
import { ephemeralPathsIn, watchCountIn, watchersIn } from '../diagnosis/session-words.ts'
import { aligned } from '../nodes/stat-text.ts'
import { command, type Context } from '../runner/command.ts'
import { statuses, UsageError } from '../runner/failure.ts'
import { bytesOf } from '../runner/input.ts'
import { escaped } from '../runner/text.ts'
import { secondsOf, wholeNumberOf } from '../runner/values.ts'

const WORDS = ['wchp', 'mntr', 'dump'] as const
type Word = (typeof WORDS)[number]

export const herds = command({
  name: 'herds',
  summary: 'prints the nodes whose changes notify very many clients, from the servers or from a capture',
  details: [
    'Asks each server of the connect string for the four-letter words wchp, mntr and dump, again and again. Opens no ' +
      'session. Servers allow the words only if 4lw.commands.whitelist names them. wchp makes a server with very many ' +
      'watches slow.',
    'A node that many sessions watch is a herd if its change concerns only one of them, as the end of a lock does. ' +
      'Servers name only the nodes of watches on data, not of those on children. A capture names both.',
    'FILE is a capture of `tcpdump -w` of the port of a server, as pcap or pcapng. Then no server is asked: each change that ' +
      'notified many clients within a second is counted.',
    'Ends with 1 if a server does not answer or allow a word.',
  ],
  arguments: [{ name: 'FILE', kind: 'file', isOptional: true, help: 'a capture; default: asks the servers' }],
  options: {
    for: { type: 'string', value: 'SECONDS', help: 'how long it looks; default 60' },
    every: { type: 'string', value: 'SECONDS', help: 'how often it looks; default 2' },
    least: { type: 'string', value: 'N', help: 'how many watches of a node make a herd; default 10' },
    port: { type: 'string', value: 'PORT', help: 'port of the server in the capture; default 2181 and 2281' },
  },
  examples: [
    'zkwire herds -s zk1:2181,zk2:2181,zk3:2181',
    'zkwire herds --for 600 --least 100',
    'timeout 300 tcpdump -i any -w zk.pcap port 2181; zkwire herds zk.pcap',
  ],
  async run(context) {
    const { values, sessions, clock, out, err, signal } = context
    const least = wholeNumberOf('least', values.least, 1) ?? 10
    const file = context.optional('FILE')
    if (file !== undefined) return showCaptured(context, file, least, wholeNumberOf('port', values.port, 1))
    const every = (secondsOf('every', values.every) ?? 2) * 1000
    const until = clock.now() + (secondsOf('for', values.for) ?? 60) * 1000
    const target = await sessions.target()
    const samples: WatchSample[] = []
    const problems = new Set<string>()
    for (;;) {
      const asked = requireAnswers(await askAll(WORDS, target, clock))
      samples.push(sampleOf(asked))
      for (const { text } of asked.problems) problems.add(text)
      if (clock.now() + every > until) break
      await pause(clock, every, signal)
      signal.throwIfAborted()
    }
    const found = herdsIn(samples, least)
    await out.show({ herds: found, samples: samples.length, problems: [...problems] }, () =>
      found.length === 0
        ? [out.paint('green', `No node had ${least} watches or more.`)]
        : [
            ...aligned([['watches', 'seen', 'node'], ...found.map(herd => rowOf(herd, samples.length))]),
            ...(found.some(({ isEphemeral }) => isEphemeral) ? [out.paint('yellow', ADVICE)] : []),
          ],
    )
    for (const problem of problems) await err.line(`zkwire herds: ${problem}`)
    return problems.size > 0 ? statuses.refused : statuses.ok
  },
})

/** Prints the herds of a capture. */
async function showCaptured(
  context: Pick<Context, 'stdin' | 'signal' | 'clock' | 'out' | 'err'>,
  file: string,
  least: number,
  port: number | undefined,
): Promise<number> {
  const { out, err, clock } = context
  try {
    const { notifications, summary } = await notificationsIn(bytesOf(context, file), () => clock.now(), port)
    const herds = herdsAmong(notifications, least)
    await out.show({ herds, notifications: notifications.length }, () =>
      herds.length === 0
        ? [out.paint('green', `No change notified ${least} clients or more.`)]
        : aligned([
            ['clients', 'changes', 'node', 'event'],
            ...herds.map(({ path, type, notified, changes }) => [
              ...[String(notified), String(changes), escaped(path), type],
            ]),
          ]),
    )
    await err.line(summary)
    return statuses.ok
  } catch (error) {
    throw error instanceof CaptureError ? new UsageError(error.message) : error
  }
}

const ADVICE =
  'The end of an ephemeral node notifies all that watch it. If only one of them can be next, let each watch its ' +
  'predecessor: see docs/locks.md.'

function sampleOf({ answers: { wchp, mntr, dump } }: Asked<Word>): WatchSample {
  const watchers = new Map<string, number>()
  // Each server knows only the watches of its own clients.
  for (const [path, count] of wchp.flatMap(({ text }) => [...watchersIn(text)]))
    watchers.set(path, (watchers.get(path) ?? 0) + count)
  const counts = mntr.flatMap(({ text }) => watchCountIn(text) ?? [])
  return {
    watchers,
    ephemerals: new Set(dump.flatMap(({ text }) => [...ephemeralPathsIn(text)])),
    // Without both words of all servers, the difference would be wrong.
    watches: counts.length === wchp.length ? counts.reduce((sum, count) => sum + count, 0) : undefined,
  }
}

const rowOf = ({ path, watchers, samples, isEphemeral }: Herd, all: number): string[] => [
  String(watchers),
  `${samples} of ${all}`,
  path === undefined ? 'watches on children, whose nodes servers do not name' : escaped(path),
  isEphemeral ? 'ephemeral' : '',
]
