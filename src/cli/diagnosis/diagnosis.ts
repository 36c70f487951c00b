// What `doctor` has measured, and what is wrong, in sentences. This folder asks servers how they are.
// May import: client/node.ts, cli/runner/command.ts, cli/runner/failure.ts, cli/runner/text.ts, runtime/clock.ts, protocol,
// runtime/host-port.ts, session/servers/connect-string.ts, transport.
import { hostPortOf } from '../../runtime/host-port.ts'

/** One address of a host, and what it answers. */
interface AddressReport {
  readonly address: string
  /** The answer to srvr without TLS, or why there is none. */
  readonly plain: ServerReport
  /** The same with TLS. */
  readonly tls: ServerReport
}

export interface ServerReport {
  /** The server accepts this kind of connection. */
  readonly answers: boolean
  /** In milliseconds; undefined if it does not answer. */
  readonly ms?: number
  readonly version?: string
  readonly mode?: string
  /** Why there is no version and mode. */
  readonly why?: string
}

export interface HostReport {
  readonly host: string
  readonly port: number
  /** Empty if the name is unknown. */
  readonly addresses: readonly AddressReport[]
  readonly why?: string
}

export interface SessionReport {
  readonly requestedTimeout: number
  readonly timeout: number
  readonly readMs: number
  readonly triedWrite: boolean
  /** Undefined if no write was tried, or the session may not create a node. */
  readonly writeMs?: number
  /** The server's clock minus that of this machine, in milliseconds. */
  readonly clockDifference?: number
  readonly isReadOnly: boolean
  /** The servers of the ensemble's configuration; empty if it is not dynamic, and undefined if it cannot be read. */
  readonly members: readonly { readonly id: number; readonly role: 'participant' | 'observer' }[] | undefined
}

export interface Diagnosis {
  readonly hosts: readonly HostReport[]
  readonly usesTls: boolean
  /** True if the session proves an identity by a password or a mechanism of SASL. */
  readonly sendsCredentials: boolean
  readonly session: SessionReport | undefined
  /** Why there is no session. */
  readonly failure?: string
}

/** Reads the answer to srvr. */
export function serverReportOf(answer: string, ms: number): ServerReport {
  const version = versionIn(answer)
  const mode = /^Mode: *(\S.*)$/m.exec(answer)?.[1]
  if (version !== undefined && mode !== undefined) return { answers: true, ms, version, mode }
  if (version !== undefined) return { answers: true, ms, version, why: NO_MODE }
  if (answer.includes('not currently serving requests')) return { answers: true, ms, why: NO_QUORUM }
  if (answer.includes('not in the whitelist')) return { answers: true, ms, why: DENIED }
  return { answers: false, why: answer === '' ? CLOSED : NO_ZOOKEEPER }
}

/** Returns the version of ZooKeeper, or the name and the version of another server, such as `RaftKeeper v2.0.4`. */
function versionIn(answer: string): string | undefined {
  // Not a header of HTTP, nor the greeting of another server, which may have these words too.
  const [, name = '', version] = /^(\w[\w ]{0,40}?) version: (?:[A-Z]\w+ )?(v?\d[^,\s-]*)/m.exec(answer) ?? []
  return version === undefined || /^zookeeper$/i.test(name) ? version : `${name} ${version}`
}

/** Why a server that runs serves no requests. */
const NO_QUORUM = 'it has no quorum'
const NO_ZOOKEEPER = 'no ZooKeeper'
const DENIED = 'it does not allow srvr'
const NO_MODE = 'it does not say whether it leads'
/** A server that does not speak TLS does so too. */
export const CLOSED = 'closed the connection'

const reportsOf = (hosts: readonly HostReport[], usesTls: boolean): ServerReport[] =>
  hosts.flatMap(({ addresses }) => addresses.map(({ plain, tls }) => (usesTls ? tls : plain)))

/** Returns true if servers run, and none of them opens a session. A session would only wait for its timeout then. */
export function openNoSession(hosts: readonly HostReport[], usesTls: boolean): boolean {
  const running = reportsOf(hosts, usesTls).filter(({ answers, why }) => answers || why === NO_ZOOKEEPER)
  return running.length > 0 && running.every(({ why }) => why === NO_QUORUM || why === NO_ZOOKEEPER)
}

/** The difference between clocks that is worth a sentence, ms. */
const CLOCKS = 1000
/** The latency that is worth a sentence, ms. */
const SLOW = 100

/** Returns a sentence for each thing that is wrong, and how to mend it. */
export function findingsOf(diagnosis: Diagnosis): string[] {
  const { hosts, usesTls, session, failure } = diagnosis
  return [
    ...hosts.flatMap(host => hostFindings(host, usesTls)),
    ...ensembleFindings(reportsOf(hosts, usesTls)),
    ...(failure === undefined ? [] : [`No session could be used: ${failure}`]),
    ...(session === undefined ? [] : sessionFindings(session)),
  ]
}

/** Returns a sentence for each thing that works now and is a risk in production, and for what could not be checked. */
export function risksOf({ hosts, usesTls, sendsCredentials, session }: Diagnosis): string[] {
  const servers = hosts.flatMap(({ host, port, addresses }) =>
    addresses.map(({ plain, tls }) => ({ name: hostPortOf({ host, port }), ...(usesTls ? tls : plain) })),
  )
  const voters = session?.members?.filter(({ role }) => role === 'participant').length ?? 0
  return [
    ...servers.flatMap(({ name, answers, version, mode, why }) => {
      if (!answers || mode !== undefined || why === NO_QUORUM) return []
      const what = version === undefined ? 'version and mode are' : 'the mode is'
      return [
        `${name}: ${what} unknown, because ${why}${why === DENIED ? ': add srvr to 4lw.commands.whitelist' : ''}.`,
      ]
    }),
    ...(servers.some(({ mode }) => mode === 'standalone')
      ? ['A standalone server is a single point of failure: run an ensemble of three servers.']
      : []),
    ...(session !== undefined && session.members === undefined
      ? ['The members of the ensemble are unknown, because /zookeeper/config cannot be read.']
      : []),
    ...(voters > 0 && voters < 3
      ? [`The ensemble has ${voters} voters, and stops when one of them fails: three are the least.`]
      : []),
    ...(voters > 3 && voters % 2 === 0
      ? [`The ensemble has ${voters} voters, and endures no more failures than ${voters - 1} would.`]
      : []),
    ...(voters > 1 && hosts.length === 1
      ? ['The connect string names one server, and a client cannot connect while that is down: name all of them.']
      : []),
    ...(sendsCredentials && !usesTls
      ? ['The credentials are sent without TLS, so others on the network can read or misuse them: give --tls.']
      : []),
  ]
}

function hostFindings({ host, port, addresses, why }: HostReport, usesTls: boolean): string[] {
  const name = hostPortOf({ host, port })
  if (addresses.length === 0) return [`${host} is an unknown name (${why}): check the spelling and the DNS.`]
  return addresses.flatMap(({ address, plain, tls }) => {
    const at = address === host ? name : `${name} (${address})`
    const [wanted, other] = usesTls ? [tls, plain] : [plain, tls]
    if (!wanted.answers && other.answers)
      return usesTls
        ? [`${at} speaks plaintext, and not TLS, on this port: leave out --tls, or use the secure port.`]
        : [`${at} speaks TLS on this port: give --tls, or use the port for plaintext.`]
    if (wanted.why === NO_ZOOKEEPER) return [`${at} answers, and is no ZooKeeper: check the host and the port.`]
    if (!wanted.answers) {
      const keeper = wanted.why === CLOSED ? ', and with ClickHouse Keeper four_letter_word_white_list' : ''
      return [`${at} does not answer (${wanted.why}): check that the server runs, its port, and firewalls${keeper}.`]
    }
    if (wanted.why === NO_QUORUM)
      return [`${at} runs, but serves no requests: too few servers of its ensemble are up, or it cannot reach them.`]
    if (wanted.mode === 'read-only') return [`${at} is read-only, because it has lost its quorum.`]
    return []
  })
}

function ensembleFindings(servers: readonly ServerReport[]): string[] {
  const modes = servers.flatMap(({ mode }) => mode ?? [])
  const versions = [...new Set(servers.flatMap(({ version }) => version ?? []))].sort()
  const count = (mode: string) => modes.filter(each => each === mode).length
  return [
    ...(count('standalone') > 0 && modes.length > 1
      ? ['A standalone server is listed with others: they are no ensemble, and have different nodes.']
      : []),
    ...(count('leader') > 1 ? [`${count('leader')} servers lead: they belong to different ensembles.`] : []),
    ...(versions.length > 1 ? [`The servers have different versions: ${versions.join(', ')}.`] : []),
  ]
}

function sessionFindings(session: SessionReport): string[] {
  const { requestedTimeout, timeout, readMs, writeMs, clockDifference = 0, isReadOnly, triedWrite } = session
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
  return [
    ...(timeout === requestedTimeout
      ? []
      : [
          `The server changed the session timeout from ${seconds(requestedTimeout)} to ${seconds(timeout)}: ` +
            'its limits are minSessionTimeout and maxSessionTimeout.',
        ]),
    ...(isReadOnly ? ['The session is read-only, because its server has lost its quorum.'] : []),
    ...(triedWrite && writeMs === undefined && !isReadOnly
      ? ['The session may not create nodes below its root, so the time of a write is unknown.']
      : []),
    ...(readMs > SLOW ? [`A read takes ${Math.round(readMs)} ms: the network or the server is slow.`] : []),
    ...(writeMs !== undefined && writeMs > SLOW
      ? [`A write takes ${Math.round(writeMs)} ms: the network, a disk, or another server of the ensemble is slow.`]
      : []),
    ...(Math.abs(clockDifference) > CLOCKS
      ? [
          `The clock of the server is ${seconds(Math.abs(clockDifference))} ${clockDifference > 0 ? 'ahead of' : 'behind'} that of ` +
            'this machine: times of nodes mislead. Sessions do not depend on it.',
        ]
      : []),
  ]
}
