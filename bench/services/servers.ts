// Starts and stops the lock services, each empty, on loopback, with its data in memory.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { runAtExit } from '../../environment/at-exit.ts'
import { ensureInstalled } from '../../environment/debian-package.ts'
import { freePort } from '../../environment/free-port.ts'
import { etcdServer, postgresql, redisServer } from '../../environment/needs.ts'
import type { Address } from '../../environment/proxied-connection.ts'
import { POSTGRES_USER, PostgresConnection } from './clients/postgresql.ts'
import type { ServiceName } from './locks.ts'

const run = promisify(execFile)
const HOST = '127.0.0.1'
const START_DEADLINE = 60_000
const POLL_INTERVAL = 20
const MEMORY = '/dev/shm'

export interface Service extends Address {
  version: string
  /** The main process of the server. */
  pid: number
  close: () => Promise<void>
}

/** @throws Error that says why this machine cannot have the service, and what to do */
export const startService = (name: ServiceName): Promise<Service> => starts[name]()

const starts: Record<ServiceName, () => Promise<Service>> = {
  ZooKeeper: async () => {
    const server = await startApacheZooKeeper({ config: { maxSessionTimeout: 120_000 } })
    const { host, port, pid } = server
    return { host, port, pid, version: await server.version(), close: () => server.close() }
  },
  Redis: startRedis,
  etcd: startEtcd,
  PostgreSQL: startPostgres,
}

async function startRedis(): Promise<Service> {
  await ensureInstalled(redisServer)
  const { stdout } = await run('redis-server', ['--version'])
  const port = await freePort()
  return start(port, /v=(\S+)/.exec(stdout)?.[1], directory => [
    'redis-server',
    ...['--bind', HOST, '--port', String(port), '--dir', directory, '--save', '', '--appendonly', 'no'],
  ])
}

async function startEtcd(): Promise<Service> {
  await ensureInstalled(etcdServer)
  const [members] = [await etcdMembers(1)]
  const [member] = members
  if (member === undefined) throw new Error('no member of etcd')
  return member.start()
}

/** One server of an etcd cluster. */
interface EtcdMember {
  name: string
  port: number
  start: () => Promise<Service>
}

/** Prepares the servers of a cluster. All must be started before one of them serves. */
export async function etcdMembers(size: number): Promise<EtcdMember[]> {
  await ensureInstalled(etcdServer)
  const { stdout } = await run('etcd', ['--version'])
  const version = /Version: (\S+)/.exec(stdout)?.[1]
  const ports: { name: string; client: number; peer: number }[] = []
  for (let i = 0; i < size; i++) ports.push({ name: `e${i}`, client: await freePort(), peer: await freePort() })
  const url = (port: number) => `http://${HOST}:${port}`
  const cluster = ports.map(({ name, peer }) => `${name}=${url(peer)}`).join(',')
  return ports.map(({ name, client, peer }) => ({
    name,
    port: client,
    start: () =>
      start(client, version, directory => [
        ...['etcd', '--name', name, '--data-dir', join(directory, 'data'), '--log-level', 'error'],
        ...['--listen-client-urls', url(client), '--advertise-client-urls', url(client)],
        ...['--listen-peer-urls', url(peer), '--initial-advertise-peer-urls', url(peer), '--initial-cluster', cluster],
      ]),
  }))
}

const VERSIONS = '/usr/lib/postgresql'

/** PostgreSQL refuses to run as root, so that its own user runs it then. */
async function runner(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {}
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

async function startPostgres(): Promise<Service> {
  await ensureInstalled(postgresql)
  const [release = ''] = await readdir(VERSIONS)
  const program = (name: string) => join(VERSIONS, release, 'bin', name)
  const { stdout } = await run(program('postgres'), ['--version'])
  const [port, user] = [await freePort(), await runner()]
  const server = await start(
    port,
    / (\d[\d.]*)/.exec(stdout)?.[1],
    async directory => {
      if (user.uid !== undefined) await chown(directory, user.uid, user.gid ?? user.uid)
      const data = join(directory, 'data')
      await run(program('initdb'), ['-D', data, '-U', POSTGRES_USER, '--auth', 'trust', '--no-sync'], user)
      return [
        ...[program('postgres'), '-D', data, '-k', directory, '-h', HOST, '-p', String(port), '-c', 'fsync=off'],
        ...['-c', 'max_connections=500'],
      ]
    },
    user,
  )
  // The port accepts connections before the server does.
  for (let elapsed = 0; ; elapsed += POLL_INTERVAL)
    try {
      const connection = await PostgresConnection.open(HOST, port)
      await connection.query('select 1')
      connection.close()
      return server
    } catch (error) {
      if (elapsed > START_DEADLINE) {
        await server.close()
        throw error
      }
      await delay(POLL_INTERVAL)
    }
}

/**
 * Starts a program in an empty directory of its own, and resolves when its port accepts connections.
 * @param command receives the directory
 */
async function start(
  port: number,
  version: string | undefined,
  command: (directory: string) => string[] | Promise<string[]>,
  user: { uid?: number; gid?: number } = {},
): Promise<Service> {
  const directory = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'zkwire-service-'))
  let kill: () => unknown = () => undefined
  const cancelAtExit = runAtExit(() => {
    kill()
    rmSync(directory, { recursive: true, force: true })
  })
  const remove = async () => {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    cancelAtExit()
  }
  const [program = '', ...args] = await Promise.resolve(command(directory)).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  const child: ChildProcess = spawn(program, args, { ...user, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr?.on('data', chunk => (output = (output + String(chunk)).slice(-2000)))
  child.on('error', error => (output += error.message))
  // PostgreSQL ends its children when it gets this signal, and it removes its shared memory.
  kill = () => child.kill(program.endsWith('postgres') ? 'SIGQUIT' : 'SIGKILL')
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const exited = once(child, 'exit')
      kill()
      await exited
    }
    await remove()
  }
  const startedAt = performance.now()
  while (!(await accepts(port))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null || child.pid === undefined
    if (hasEnded || performance.now() - startedAt > START_DEADLINE) {
      await close()
      throw new Error(`${program} did not serve on port ${port}: ${output.trim()}`)
    }
    await delay(POLL_INTERVAL)
  }
  return { host: HOST, port, pid: child.pid ?? NaN, version: version ?? 'unknown', close }
}

function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host: HOST, port })
    const end = (does: boolean) => {
      socket.destroy()
      resolve(does)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
