// `zkwire doctor`.
import { lookup } from 'node:dns/promises'
import type { Client } from '../../client/index.ts'
import { unlessRefused } from '../../client/recipe-support.ts'
import { isCode, join } from '../../protocol/index.ts'
import type { Address } from '../../transport/transport.ts'
import type { Clock } from '../../runtime/clock.ts'
import { hostPortOf } from '../../runtime/host-port.ts'
import { command, type Target } from '../runner/command.ts'
import {
  findingsOf,
  openNoSession,
  risksOf,
  serverReportOf,
  type Diagnosis,
  type HostReport,
  type ServerReport,
  type SessionReport,
} from '../diagnosis/diagnosis.ts'
import { messageOf, statuses } from '../runner/failure.ts'
import { askFor, type AskOptions } from '../diagnosis/four-letter-words.ts'
import { serversOf, tlsDialFor } from '../diagnosis/servers.ts'
import { aligned } from '../nodes/stat-text.ts'
import { escaped } from '../runner/text.ts'

/** How long one question may take, ms. */
const TIMEOUT = 3000
const READS = 5

export const doctor = command({
  name: 'doctor',
  summary: 'tries every server and a session, and says in words what is wrong',
  details: [
    'Resolves each host, tries it with and without TLS, asks it for version and mode (srvr), opens a session, and ' +
      'measures a read and a write: it creates an ephemeral node and deletes it. Ends with 69 if there is no session, ' +
      'and with 1 if anything else is wrong.',
  ],
  arguments: [],
  options: {
    'no-write': { type: 'boolean', help: 'creates no node' },
    strict: {
      type: 'boolean',
      help: 'also reports what works and is a risk: servers that cannot be checked, too few voters, credentials without TLS',
    },
  },
  examples: ['zkwire doctor -s zk1:2181,zk2:2181,zk3:2181', 'zkwire doctor --strict'],
  async run({ values, sessions, client, clock, out, signal }) {
    const target = await sessions.target()
    const addresses = await serversOf(target, clock)
    const reports = await Promise.all(addresses.map(address => hostReportOf(address, target, clock)))
    const connection = connectionOf(target)
    // What is wrong is known then, and an operator waits for the answer.
    const wait = openNoSession(reports, connection.usesTls) ? TIMEOUT : undefined
    const tried = await trySession(() => client(wait), target, !values['no-write'], clock, signal)
    const diagnosis: Diagnosis = { hosts: reports, ...connection, ...tried }
    const findings = [...findingsOf(diagnosis), ...(values.strict ? risksOf(diagnosis) : [])]
    await out.show({ ...diagnosis, findings }, () => [
      ...aligned(reports.flatMap(rowsOf)),
      ...(tried.session === undefined ? [] : sessionLines(tried.session)),
      ...(findings.length === 0
        ? [out.paint('green', 'Nothing is wrong.')]
        : findings.map(each => out.paint('yellow', escaped(each)))),
    ])
    if (tried.session === undefined) return statuses.noServer
    return findings.length === 0 ? statuses.ok : statuses.refused
  },
})

const connectionOf = ({ options: { tls, auth, sasl } }: Target) => ({
  usesTls: Boolean(tls),
  sendsCredentials: sasl !== undefined || (auth ?? []).length > 0,
})

async function hostReportOf({ host, port }: Address, target: Target, clock: Clock): Promise<HostReport> {
  let found: readonly { address: string }[]
  try {
    found = await lookup(host, { all: true })
  } catch (error) {
    return { host, port, addresses: [], why: (error as { code?: string }).code ?? 'unknown' }
  }
  // The certificate is checked when the session is opened. Here only the language matters.
  const secureDial = tlsDialFor(host, target.options.tls, { rejectUnauthorized: false })
  const addresses = await Promise.all(
    found.map(async ({ address }) => {
      const at = { host: address, port }
      const [plain, secure] = await Promise.all([
        serverReport(at, { timeout: TIMEOUT, clock }),
        serverReport(at, { dial: secureDial, timeout: TIMEOUT, clock }),
      ])
      return { address, plain, tls: secure }
    }),
  )
  return { host, port, addresses }
}

async function serverReport(address: Address, options: AskOptions): Promise<ServerReport> {
  try {
    const { text, ms } = await askFor('srvr', address, options)
    return serverReportOf(text, ms)
  } catch (error) {
    const why = (error as Error).message
    // An alert of TLS, such as `certificate required`, is an answer too.
    const speaksTls = options.dial !== undefined && /\balert\b/.test(why)
    return speaksTls ? { answers: true, why: 'it requires a client certificate' } : { answers: false, why }
  }
}

/** Reports why there is no session, also if it fails after it was opened. */
async function trySession(
  open: () => Promise<Client>,
  target: Target,
  writes: boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<Pick<Diagnosis, 'session' | 'failure'>> {
  try {
    return { session: await sessionReport(await open(), target, writes, clock, signal) }
  } catch (error) {
    if (signal.aborted) throw error
    return { session: undefined, failure: messageOf(error) ?? '' }
  }
}

async function sessionReport(
  zk: Client,
  { options }: Target,
  writes: boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<SessionReport> {
  const times: number[] = []
  for (let i = 0; i < READS; i++) {
    const startedAt = clock.now()
    await zk.exists('/', { signal })
    times.push(clock.now() - startedAt)
  }
  const isReadOnly = zk.state === 'connectedReadOnly'
  const written = writes && !isReadOnly ? await tryWrite(zk, clock) : {}
  return {
    requestedTimeout: options.sessionTimeout ?? zk.sessionTimeout,
    timeout: zk.sessionTimeout,
    // The first read compiles code.
    readMs: Math.min(...times),
    isReadOnly,
    members: await membersOf(zk),
    triedWrite: writes,
    ...written,
  }
}

async function membersOf(zk: Client): Promise<SessionReport['members']> {
  // Servers before 3.5 have no such node, and the ACL may forbid to read it.
  const config = await unlessRefused(zk.getConfig(), 'NONODE', 'NOAUTH')
  return config?.servers.map(({ id, role }) => ({ id, role }))
}

/** Creates an ephemeral node, whose time shows the clock of the server. */
async function tryWrite(zk: Client, clock: Clock): Promise<Pick<SessionReport, 'writeMs' | 'clockDifference'>> {
  const startedAt = clock.now()
  const wall = clock.wallNow()
  try {
    const { path, stat } = await zk.create(join('/', 'zkwire-doctor-'), '', { mode: 'ephemeralSequential' })
    const writeMs = clock.now() - startedAt
    await zk.delete(path)
    return { writeMs, clockDifference: Math.round(stat.ctime - wall - writeMs / 2) }
  } catch (error) {
    if (isCode(error, 'NOAUTH', 'NONODE', 'QUOTAEXCEEDED', 'EPHEMERALONLOCALSESSION')) return {}
    throw error
  }
}

function rowsOf({ host, port, addresses }: HostReport): string[][] {
  const name = escaped(hostPortOf({ host, port }))
  if (addresses.length === 0) return [[name, 'unknown name']]
  return addresses.map(({ address, plain, tls }) => [
    name,
    address,
    `plain: ${answerText(plain)}`,
    `TLS: ${answerText(tls)}`,
  ])
}

function answerText({ answers, ms, version, mode, why }: ServerReport): string {
  if (!answers) return escaped(`no (${why})`)
  const text = escaped(version === undefined ? (why ?? '') : `${version} ${mode ?? '(mode unknown)'}`)
  return ms === undefined ? text : `${text}, ${ms.toFixed(1)} ms`
}

function sessionLines({ timeout, readMs, writeMs, clockDifference }: SessionReport): string[] {
  return [
    `session: timeout ${timeout / 1000} s, read ${readMs.toFixed(1)} ms` +
      (writeMs === undefined ? '' : `, write ${writeMs.toFixed(1)} ms`) +
      (clockDifference === undefined
        ? ''
        : `, clock of the server ${clockDifference >= 0 ? '+' : ''}${clockDifference} ms`),
  ]
}
