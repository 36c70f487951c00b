// What costs are spread over the servers of an ensemble, and what costs are not. This file: the ensemble, started here or
// running already.
// May import: bench/harness, bench/measure, bench/output/figures.ts, bench/output/progress.ts,
// bench/scenarios/index.ts, src/index.ts, src/recipes/index.ts, src/runtime/shuffle.ts,
// src/session/servers/connect-string.ts, environment.
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { cpuSecondsOf } from '../../environment/procfs.ts'
import { Ensemble } from '../../environment/ensemble.ts'
import type { WireCounts } from '../measure/reconcile.ts'
import { countsOf, isNetworkError, parseSrvr, type Server } from '../harness/server.ts'
import { SESSION_TIMEOUT } from '../harness/sessions.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { list } from '../output/figures.ts'
import { findServerReporter, roleBySrvr, TIMEOUT, type Role, type ServerReporter } from './server-report.ts'

export interface EnsembleSize {
  /** The number of servers that vote. */
  voters: number
  observers: number
}

/** The heap of each server. It is smaller than that of a single one, because several share the memory. */
const HEAP = '-Xmx768m'

/** Starts Apache's servers, and resolves when all of them serve requests. */
export async function startEnsemble({ voters, observers }: EnsembleSize): Promise<Server> {
  const ensemble = await Ensemble.start({
    ...{ size: voters, observers, jvm: [HEAP] },
    config: { tickTime: 2000, maxSessionTimeout: SESSION_TIMEOUT },
  })
  const { servers } = ensemble
  const pids = servers.map(({ pid }) => pid)
  const counts = servers.map(server => countsOf(server))
  const { version } = parseSrvr((await servers[0]?.command('srvr')) ?? '')
  const watching = observers === 0 ? '' : ` and ${observers} observer${observers === 1 ? '' : 's'}`
  return {
    ...{ ensemble, version, kind: 'apache', servers: ensemble.connectString, pids },
    mode: `an ensemble of ${voters} voting servers${watching}`,
    // A server that was killed has used its last processor time.
    cpuSeconds: () => pids.reduce((sum, pid) => sum + (cpuSecondsOf(pid) ?? 0), 0),
    wireCounts: async () => totalOf(await Promise.all(counts.map(count => count()))),
    close: () => ensemble.close(),
  }
}

function totalOf(all: readonly (Partial<WireCounts> | undefined)[]): Partial<WireCounts> {
  const sum = (key: keyof WireCounts) => all.reduce((total, each) => total + (each?.[key] ?? NaN), 0)
  return { framesSent: sum('framesSent'), framesReceived: sum('framesReceived'), bytesSent: sum('bytesSent') }
}

/** One server of the ensemble under measurement. */
export interface Site {
  /** host:port */
  address: string
  role: Role
  /** Undefined if the server answers neither `mntr` nor by its admin server. */
  reporter: ServerReporter | undefined
  /** The process of a server that this run started. */
  pid: number | undefined
}

export interface Sites {
  /** The servers that accept connections. */
  sites: Site[]
  /** The addresses of the others. */
  unreachable: string[]
}

/**
 * Asks each server for its role. Returns undefined if the servers are in no ensemble.
 * @throws Error if the connect string names only one server of an ensemble, or only one of them can be reached
 */
export async function sitesOf({
  servers,
  pids,
  mode,
}: Pick<Server, 'servers' | 'pids' | 'mode'>): Promise<Sites | undefined> {
  const { hosts } = parseConnectString(servers)
  if (hosts.length === 1 && (mode === 'standalone' || mode === 'unknown')) return undefined
  const asked = await Promise.all(hosts.map(async (host, i) => ({ host, site: await siteAt(host, pids[i]) })))
  const sites = asked.flatMap(({ site }) => site ?? [])
  const unreachable = asked.flatMap(({ host, site }) => (site === undefined ? addressOf(host) : []))
  const areAlone = sites.every(({ role }) => role === 'standalone')
  if (areAlone && unreachable.length === 0) return undefined
  if (!areAlone && sites.length > 1) return { sites, unreachable }
  throw new Error(
    unreachable.length === 0
      ? `${servers} is a ${mode}, and --server names no other server of its ensemble. Name all of them`
      : `${list(unreachable)} cannot be reached, so there is only one server`,
  )
}

/** Returns undefined if the server refuses the connection. */
async function siteAt({ host, port }: HostPort, pid: number | undefined): Promise<Site | undefined> {
  const isRefused = await fourLetterWord(host, port, 'srvr', TIMEOUT).then(() => false, isNetworkError)
  if (isRefused) return undefined
  const reporter = await findServerReporter(host, port)
  const role = reporter === undefined ? await roleBySrvr(host, port) : (await reporter.read()).role
  return { address: addressOf({ host, port }), role, reporter, pid }
}

type HostPort = ReturnType<typeof parseConnectString>['hosts'][number]

const addressOf = ({ host, port }: HostPort): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
