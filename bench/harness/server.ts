// The ZooKeeper that is measured: one that runs already, or one that is started for the run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ServerStats } from '../../src/server/index.ts'
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../test/support/apache-zookeeper.ts'
import { fourLetterWord } from '../../test/support/four-letter-word.ts'
import { cpuSecondsOf } from '../../test/support/procfs.ts'
import type { WireCounts } from '../measure/reconcile.ts'
import { SESSION_TIMEOUT } from './sessions.ts'

export interface Server {
  servers: string
  /** 'given' runs already; the others are started for this run, and end with it. */
  kind: 'embedded' | 'apache' | 'given'
  version: string
  /** 'standalone', or what it is in its ensemble. */
  mode: string
  /** Of a server that was started for this run. */
  pid: number | undefined
  /** Processor time it has used; undefined where that cannot be told. */
  cpuSeconds: () => number | undefined
  /** What has passed by its own count; undefined where it serves others too. */
  wireCounts: () => Promise<Partial<WireCounts> | undefined>
  close: () => Promise<void>
}

/** Thousands of sessions that are each sent a long list at once. */
const HEAP = '-Xmx1536m'

/** @param which a connect string, or what is to be started */
export function serverFor(which: string): Promise<Server> {
  if (which === 'embedded') return startEmbedded()
  return which === 'apache' ? startApache() : existingServer(which)
}

async function startEmbedded(): Promise<Server> {
  const program = fileURLToPath(new URL('embedded.ts', import.meta.url))
  const child = fork(program, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const servers = await Promise.race([
    once(child, 'message').then(([servers]) => servers as string),
    gone.then(([code]) => Promise.reject(new Error(`the embedded server ended before it served (${code})`))),
  ])
  const { pid } = child
  return {
    ...{ servers, kind: 'embedded', version: ownVersion(), mode: 'standalone', pid },
    cpuSeconds: () => (pid === undefined ? undefined : cpuSecondsOf(pid)),
    wireCounts: async () => {
      child.send('counts')
      const [counts] = (await once(child, 'message')) as [ServerStats]
      return {
        ...{ framesSent: counts.received, framesReceived: counts.sent },
        ...{ bytesSent: counts.bytesReceived, bytesReceived: counts.bytesSent },
      }
    },
    close: async () => {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

const ownVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version

/** For a sentence. */
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

const noMeasurements = { pid: undefined, cpuSeconds: () => undefined, wireCounts: () => Promise.resolve(undefined) }

async function startApache(): Promise<Server> {
  const server = await startApacheZooKeeper({
    config: { tickTime: 2000, maxSessionTimeout: SESSION_TIMEOUT },
    jvm: [HEAP],
  })
  return {
    ...parseSrvr(await server.command('srvr')),
    servers: server.connectString,
    kind: 'apache',
    pid: server.pid,
    cpuSeconds: () => server.cpuSeconds(),
    wireCounts: countsOf(server),
    close: () => server.close(),
  }
}

/** The server puts this many characters of its answer to a word into one packet (BufferedWriter before the connection). */
const CHARACTERS = 8192
const WORD_BYTES = 4

/** By `mntr`, which tells nothing of the bytes that were sent (3.8). What the asking itself causes is taken off. */
export function countsOf(server: Pick<ApacheZooKeeper, 'command'>): Server['wireCounts'] {
  const asking = { framesSent: 0, framesReceived: 0, bytesSent: 0 }
  return async () => {
    const mntr = await server.command('mntr')
    const count = (name: string) => Number(new RegExp(`^zk_${name}\\s+(\\d+)$`, 'm').exec(mntr)?.[1])
    asking.framesSent++
    asking.bytesSent += WORD_BYTES
    const passed = {
      framesSent: count('packets_received') - asking.framesSent,
      framesReceived: count('packets_sent') - asking.framesReceived,
      bytesSent: count('bytes_received_count') - asking.bytesSent,
    }
    asking.framesReceived += Math.ceil(mntr.length / CHARACTERS)
    return passed
  }
}

/**
 * Of the first server that says it. A server may be told to keep silent about itself: that is no failure.
 * @throws Error where at none of the addresses anybody listens: it should not be told after a minute
 */
async function describeServer(servers: string): Promise<ReturnType<typeof parseSrvr>> {
  const { hosts } = parseConnectString(servers)
  const refusals: unknown[] = []
  for (const { host, port } of hosts) {
    const answer = await fourLetterWord(host, port, 'srvr', 3000).catch((error: unknown) => {
      if (isNetworkError(error)) refusals.push(error)
      return ''
    })
    if (answer.includes('Mode:')) return parseSrvr(answer)
  }
  if (hosts.length > 0 && refusals.length === hosts.length)
    throw new Error(`--server: no ZooKeeper at ${servers} (${messageOf(refusals.at(-1))})`)
  return parseSrvr('')
}

/** Not of a server that keeps us waiting. */
const isNetworkError = (error: unknown): boolean => error instanceof Error && 'code' in error

/** Where a name has several addresses, node:net says nothing of its own. */
const messageOf = (error: unknown): string =>
  error instanceof AggregateError ? messageOf(error.errors.at(-1)) : (error as Error).message

/** From what `srvr` answers. */
export function parseSrvr(srvr: string): Pick<Server, 'version' | 'mode'> {
  return {
    version: /^Zookeeper version: ([^\s,-]+)/m.exec(srvr)?.[1] ?? 'unknown',
    mode: /^Mode: (\w+)/m.exec(srvr)?.[1] ?? 'unknown',
  }
}
