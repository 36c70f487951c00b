// The ZooKeeper under measurement: a running one, or one started for the run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ServerStats } from '../../src/server/index.ts'
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import type { Ensemble } from '../../environment/ensemble.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { cpuSecondsOf } from '../../environment/procfs.ts'
import type { WireCounts } from '../measure/reconcile.ts'
import { SESSION_TIMEOUT } from './sessions.ts'

export interface Server {
  servers: string
  /** A 'given' server was running already. The others are started for this run, and stopped with it. */
  kind: 'embedded' | 'apache' | 'given'
  version: string
  /** 'standalone', or the role of the server in its ensemble. */
  mode: string
  /** The process ids of the servers that this run started. */
  pids: readonly number[]
  /** Processor time used so far. Undefined if unknown. */
  cpuSeconds: () => number | undefined
  /** Frames and bytes by the server's own count. Undefined if the server has other clients too. */
  wireCounts: () => Promise<Partial<WireCounts> | undefined>
  /** The servers of an ensemble that this run started. */
  ensemble?: Ensemble
  close: () => Promise<void>
}

/** The heap of Apache's server: large enough for thousands of sessions that receive a long list at once. */
const HEAP = '-Xmx1536m'

/** @param which a connect string, or the server to start: 'embedded' or 'apache' */
export function serverFor(which: string): Promise<Server> {
  if (which === 'embedded') return startEmbedded()
  return which === 'apache' ? startApache() : existingServer(which)
}

async function startEmbedded(): Promise<Server> {
  const program = fileURLToPath(new URL('embedded.ts', import.meta.url))
  const child = fork(program, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const servers = await Promise.race([
    once(child, 'message').then(([servers]) => servers as string),
    exited.then(([code]) =>
      Promise.reject(new Error(`the embedded server exited with ${code} before it accepted connections`)),
    ),
  ])
  const { pid } = child
  return {
    ...{ servers, kind: 'embedded', version: ownVersion(), mode: 'standalone' },
    pids: pid === undefined ? [] : [pid],
    cpuSeconds: () => (pid === undefined ? undefined : cpuSecondsOf(pid)),
    wireCounts: async () => {
      child.send('counts')
      const [stats] = (await once(child, 'message')) as [ServerStats]
      return {
        ...{ framesSent: stats.received, framesReceived: stats.sent },
        ...{ bytesSent: stats.bytesReceived, bytesReceived: stats.bytesSent },
      }
    },
    close: async () => {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

/** Returns the version of zkwire. */
export const ownVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version

/** Returns a description for the middle of a sentence. */
export function nameOf({
  kind,
  servers,
  version,
  mode,
}: Pick<Server, 'kind' | 'servers' | 'version' | 'mode'>): string {
  if (kind === 'embedded') return `the embedded server of zkwire ${version}`
  return `${kind === 'given' ? servers : 'Apache'} ZooKeeper ${version}, ${mode}`
}

async function existingServer(servers: string): Promise<Server> {
  const about = await describeServer(servers)
  return { ...about, ...noMeasurements, servers, kind: 'given', close: () => Promise.resolve() }
}

const noMeasurements = { pids: [], cpuSeconds: () => undefined, wireCounts: () => Promise.resolve(undefined) }

async function startApache(): Promise<Server> {
  const server = await startApacheZooKeeper({
    config: { tickTime: 2000, maxSessionTimeout: SESSION_TIMEOUT },
    jvm: [HEAP],
  })
  return {
    ...parseSrvr(await server.command('srvr')),
    servers: server.connectString,
    kind: 'apache',
    pids: [server.pid],
    cpuSeconds: () => server.cpuSeconds(),
    wireCounts: countsOf(server),
    close: () => server.close(),
  }
}

/** The server splits its reply to a four-letter word into packets of this many characters (BufferedWriter). */
const CHARACTERS = 8192
const WORD_BYTES = 4

/**
 * Reads the counts with `mntr`, which does not report the bytes sent (3.8). Subtracts the traffic of the `mntr`
 * requests.
 */
export function countsOf(server: Pick<ApacheZooKeeper, 'command'>): Server['wireCounts'] {
  const packets = packetsOf(server)
  return async () => {
    const { framesSent, framesReceived, bytesSent } = await packets()
    return { framesSent, framesReceived, bytesSent }
  }
}

/** Like {@link countsOf}, and also returns the reply to `mntr`. */
export function packetsOf(server: Pick<ApacheZooKeeper, 'command'>) {
  const own = { framesSent: 0, framesReceived: 0, bytesSent: 0 }
  return async () => {
    const mntr = await server.command('mntr')
    const count = (name: string) => Number(new RegExp(`^zk_${name}\\s+(\\d+)$`, 'm').exec(mntr)?.[1])
    own.framesSent++
    own.bytesSent += WORD_BYTES
    const passed = {
      mntr,
      framesSent: count('packets_received') - own.framesSent,
      framesReceived: count('packets_sent') - own.framesReceived,
      bytesSent: count('bytes_received_count') - own.bytesSent,
    }
    own.framesReceived += Math.ceil(mntr.length / CHARACTERS)
    return passed
  }
}

/**
 * Returns the version and mode of the first server that reports them. They are 'unknown' if `srvr` is disabled on all
 * of them.
 * @throws Error if no address accepts connections, so that the run fails at once and not after a minute
 */
async function describeServer(servers: string): Promise<ReturnType<typeof parseSrvr>> {
  const { hosts } = parseConnectString(servers)
  const failures: unknown[] = []
  for (const { host, port } of hosts) {
    const reply = await fourLetterWord(host, port, 'srvr', 3000).catch((error: unknown) => {
      if (isNetworkError(error)) failures.push(error)
      return ''
    })
    if (reply.includes('Mode:')) return parseSrvr(reply)
  }
  if (hosts.length > 0 && failures.length === hosts.length)
    throw new Error(`--server: cannot reach a ZooKeeper at ${servers} (${messageOf(failures.at(-1))})`)
  return parseSrvr('')
}

/** False for the timeout of a server that accepts the connection and does not reply. */
export const isNetworkError = (error: unknown): boolean => error instanceof Error && 'code' in error

/** node:net throws an AggregateError without a message if a name has several addresses. */
const messageOf = (error: unknown): string =>
  error instanceof AggregateError ? messageOf(error.errors.at(-1)) : (error as Error).message

/** Parses the reply to `srvr`. */
export function parseSrvr(srvr: string): Pick<Server, 'version' | 'mode'> {
  return {
    version: /^Zookeeper version: ([^\s,-]+)/m.exec(srvr)?.[1] ?? 'unknown',
    mode: /^Mode: (\w+)/m.exec(srvr)?.[1] ?? 'unknown',
  }
}
