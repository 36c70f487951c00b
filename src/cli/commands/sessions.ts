// `zkwire sessions`.
import { command } from '../runner/command.ts'
import { statuses } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { askAll, requireAnswers, type Answers } from '../diagnosis/ask-all.ts'
import { connectionsIn, ephemeralsIn, sessionsIn, watchesIn } from '../diagnosis/session-words.ts'
import { aligned } from '../nodes/stat-text.ts'

const WORDS = ['cons', 'dump', 'wchc'] as const
type Word = (typeof WORDS)[number]

/** A value is null if a server that must be asked for it does not answer. */
interface SessionRow {
  readonly session: string
  /** Undefined if the session has no connection now. */
  readonly address: string | null | undefined
  readonly server: string | null | undefined
  readonly timeout: number | null | undefined
  readonly requests: number | null | undefined
  readonly nodes: number | null
  readonly watches: number | null
}

export const sessions = command({
  name: 'sessions',
  summary: 'prints all sessions: their clients, servers, ephemeral nodes and watches',
  details: [
    'Asks each server of the connect string for the four-letter words cons, dump and wchc, without a session. Servers ' +
      'allow them only if 4lw.commands.whitelist names them. What is then unknown is printed as ?, and what a session ' +
      'without a connection has not as -. Servers count only watches on data, not those on children.',
    'wchc makes a server with very many watches slow. Ends with 1 if a server does not answer or allow a word.',
  ],
  arguments: [],
  options: {},
  examples: ['zkwire sessions -s zk1:2181,zk2:2181,zk3:2181'],
  async run({ out, err, sessions, clock }) {
    const { answers, problems } = requireAnswers(await askAll(WORDS, await sessions.target(), clock))
    const rows = rowsOf(answers, new Set(problems.map(({ word }) => word)))
    await out.show({ sessions: rows, problems: problems.map(({ text }) => text) }, () => [
      ...aligned([
        ['session', 'client', 'server', 'timeout', 'requests', 'nodes', 'watches'],
        ...rows.map(row => Object.values(row).map(cell)),
      ]),
    ])
    for (const problem of problems) await err.line(`zkwire sessions: ${problem.text}`)
    return problems.length > 0 ? statuses.refused : statuses.ok
  },
})

const cell = (value: string | number | null | undefined): string =>
  value === null ? '?' : value === undefined ? '-' : escaped(String(value))

/** @param unknown the words that a server has not answered */
function rowsOf({ cons, dump, wchc }: Answers<Word>, unknown: ReadonlySet<Word>): SessionRow[] {
  const connections = new Map(
    cons.flatMap(({ server, text }) => connectionsIn(text).map(each => [each.session, { server, ...each }] as const)),
  )
  // All servers know all ephemeral nodes, and each one only the watches of its own clients.
  const nodes = new Map(dump.flatMap(({ text }) => [...ephemeralsIn(text)]))
  const watches = new Map(wchc.flatMap(({ text }) => [...watchesIn(text)]))
  const ids = new Set([...connections.keys(), ...dump.flatMap(({ text }) => sessionsIn(text)), ...nodes.keys()])
  const absent = unknown.has('cons') ? null : undefined
  return [...ids, ...watches.keys()].toSorted().flatMap((session, i, all) => {
    if (session === all[i - 1]) return []
    const connection = connections.get(session)
    return {
      session,
      address: connection === undefined ? absent : connection.address,
      server: connection === undefined ? absent : connection.server,
      timeout: connection === undefined ? absent : connection.timeout,
      requests: connection === undefined ? absent : connection.requests,
      nodes: nodes.get(session) ?? (dump.length === 0 ? null : 0),
      watches: watches.get(session) ?? (unknown.has('wchc') ? null : 0),
    }
  })
}
