// `zkwire sessions`.
import { command, type Context } from '../runner/command.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { ask } from '../diagnosis/four-letter-words.ts'
import { serversOf, tlsFor } from '../diagnosis/servers.ts'
import { connectionsIn, ephemeralsIn, isDenied, sessionsIn, watchesIn } from '../diagnosis/session-words.ts'
import { aligned } from '../nodes/stat-text.ts'

/** How long one answer may take, ms. */
const TIMEOUT = 10_000
/** The longest answer that is read, in bytes: `cons` has about 200 for each connection. */
const LONGEST_ANSWER = 64 * 1024 * 1024

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
  async run(context) {
    const { out, err } = context
    const { answers, problems } = await answersOf(context)
    if (WORDS.every(word => answers[word].length === 0) && problems.length > 0)
      throw new CommandError(
        problems.some(({ isRefusal }) => isRefusal) ? statuses.refused : statuses.noServer,
        problems.map(({ text }) => text).join('; '),
      )
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

/** Why a server has not said what it was asked for. */
interface Problem {
  readonly word: Word
  readonly isRefusal: boolean
  readonly text: string
}

interface Answer {
  readonly server: string
  readonly text: string
}

type Answers = Readonly<Record<Word, readonly Answer[]>>

/** Asks each server for each word. */
async function answersOf({ sessions, clock }: Context): Promise<{ answers: Answers; problems: readonly Problem[] }> {
  const { servers, options } = await sessions.target()
  const { tls } = options
  const answers: Record<Word, Answer[]> = { cons: [], dump: [], wchc: [] }
  const problems: Problem[] = []
  await Promise.all(
    (await serversOf(servers)).flatMap(({ host, port }) =>
      WORDS.map(async word => {
        const server = `${host}:${port}`
        const secure = tls ? tlsFor(host, tls) : undefined
        const answer = await ask({ host, port }, word, {
          tls: secure,
          timeout: TIMEOUT,
          clock,
          longest: LONGEST_ANSWER,
        })
        const problem = problemOf(server, word, answer)
        if (problem !== undefined) problems.push(problem)
        else if (answer.is === 'text') answers[word].push({ server, text: answer.text })
      }),
    ),
  )
  return { answers, problems: problems.toSorted((a, b) => (a.text < b.text ? -1 : 1)) }
}

function problemOf(server: string, word: Word, answer: Awaited<ReturnType<typeof ask>>): Problem | undefined {
  const failure = (text: string, isRefusal = false) => ({ word, isRefusal, text: escaped(`${server} ${text}`) })
  if (answer.is === 'failure') return failure(`does not answer ${word}: ${answer.why}`)
  if (isDenied(answer.text))
    return failure(`does not allow the word ${word}: add it to 4lw.commands.whitelist of the server`, true)
  if (answer.text.includes('not currently serving requests')) return failure(`has no quorum, and does not know ${word}`)
  return answer.text === '' ? failure(`closed the connection without an answer to ${word}`) : undefined
}

/** @param unknown the words that a server has not answered */
function rowsOf({ cons, dump, wchc }: Answers, unknown: ReadonlySet<Word>): SessionRow[] {
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
