// Real Apache ZooKeeper servers, each in a separate Java process on the loopback interface.
// What tests, benchmarks and the site start beside the client is in this folder.
// May import: src/protocol/index.ts, src/runtime/clock.ts, src/transport, playwright-core.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { distribution, findApacheZooKeeper } from './find-apache-zookeeper.ts'
import { fourLetterWord } from './four-letter-word.ts'
import { freePort } from './free-port.ts'
import { runAtExit } from './at-exit.ts'
import { versionIn } from './server-version.ts'
import { cpuSecondsOf, threadStates } from './procfs.ts'

export interface ApacheZooKeeperOptions {
  /** The directory of a binary distribution. Default: `ZOOKEEPER_HOME`, or Debian's package. */
  home?: string | undefined
  /** Lines of zoo.cfg, which extend or override the defaults. */
  config?: Record<string, string | number>
  /** JVM options, passed after the defaults. A later option overrides an earlier one. */
  jvm?: string[]
}

const START_DEADLINE = 60_000
const POLL_INTERVAL = 20

/** Starts an empty standalone server and resolves when it serves requests. */
export async function startApacheZooKeeper(options: ApacheZooKeeperOptions = {}): Promise<ApacheZooKeeper> {
  const classPath = options.home === undefined ? await findApacheZooKeeper() : distribution(options.home)
  const memory = '/dev/shm'
  const directory = await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), 'apache-zookeeper-'))
  const server = new ApacheZooKeeper(classPath, directory, await freePort(), options)
  try {
    await server.start()
  } catch (error) {
    await server.close()
    throw error
  }
  return server
}

/** A server that can be killed, restarted and paused. close() removes its directory. */
export class ApacheZooKeeper {
  readonly host = '127.0.0.1'
  readonly port: number
  /** Contains the data, zoo.cfg and the server's output. */
  readonly directory: string
  readonly #arguments: readonly string[]
  readonly #config: string
  readonly #cancelAtExit: () => void
  #child: ChildProcess | undefined

  constructor(classPath: string, directory: string, port: number, { config, jvm = [] }: ApacheZooKeeperOptions) {
    this.directory = directory
    this.port = port
    const { tickTime = 500 } = config ?? {}
    const lines = {
      tickTime,
      dataDir: directory,
      clientPort: port,
      clientPortAddress: this.host,
      clientPortListenBacklog: 4096,
      maxClientCnxns: 0,
      minSessionTimeout: 1000,
      // The default of later versions. 3.4 rejects a minimum that has no maximum.
      maxSessionTimeout: 20 * (Number(tickTime) || 500),
      '4lw.commands.whitelist': '*',
      'admin.enableServer': false,
      ...config,
    }
    this.#config = Object.entries(lines)
      .map(([key, value]) => `${key}=${value}\n`)
      .join('')
    this.#arguments = [
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      '-Xmx192m',
      '-Dzookeeper.admin.enableServer=false',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
      ...jvm,
      ...['-cp', classPath, 'org.apache.zookeeper.server.quorum.QuorumPeerMain', join(directory, 'zoo.cfg')],
    ]
    this.#cancelAtExit = runAtExit(() => {
      this.#child?.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    })
  }

  get connectString(): string {
    return `${this.host}:${this.port}`
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('the server is not running')
    return this.#child.pid
  }

  /** Starts the server on its existing data and resolves when it serves requests. */
  async start(): Promise<void> {
    if (this.#child) throw new Error('the server is running already')
    await writeFile(join(this.directory, 'zoo.cfg'), this.#config)
    // The output goes to a file because a pipe would keep the event loop alive, and a full pipe would block the server.
    const output = openSync(join(this.directory, 'output'), 'a')
    const java = process.env['JAVA_HOME'] ? join(process.env['JAVA_HOME'], 'bin', 'java') : 'java'
    const child = spawn(java, this.#arguments, { stdio: ['ignore', output, output] })
    closeSync(output)
    // A server that a test forgets to close does not keep this process alive: the exit handler kills it.
    child.unref()
    this.#child = child
    let failure = 'ended before it served'
    child.once('error', error => {
      failure = `did not start (${error.message}): set JAVA_HOME, or have java on the PATH`
      this.#child = undefined
    })
    child.once('exit', () => {
      this.#child = undefined
    })
    const startedAt = Date.now()
    for (let elapsed = 0; !(await this.#serves(elapsed)); elapsed = Date.now() - startedAt) {
      if (elapsed > START_DEADLINE) {
        failure = `did not serve within ${START_DEADLINE} ms`
        await this.kill()
      }
      if (this.#child !== child) throw this.#failure(failure)
      await delay(POLL_INTERVAL)
    }
  }

  /** Sends a four-letter word and returns the server's reply. `timeout` is in milliseconds. */
  command(word: string, timeout?: number): Promise<string> {
    return fourLetterWord(this.host, this.port, word, timeout)
  }

  async mntr(): Promise<Map<string, string>> {
    const lines = (await this.command('mntr')).trimEnd().split('\n')
    return new Map(lines.map(line => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]))
  }

  /** Resolves with the server's version, such as 3.8.0. */
  async version(): Promise<string> {
    return versionIn(await this.command('srvr'))
  }

  /** The number of watches set at the server. */
  watchCount(): Promise<number> {
    return this.#gauge('zk_watch_count')
  }

  ephemeralsCount(): Promise<number> {
    return this.#gauge('zk_ephemerals_count')
  }

  /** Kills the process with SIGKILL and resolves when it has exited. The data stays. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child) return
    child.ref()
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** Pauses the process: its sockets stay open, but it does not reply. Resolves when all its threads are stopped. */
  async pause(): Promise<void> {
    process.kill(this.pid, 'SIGSTOP')
    while (!threadStates(this.pid).every(state => state === 'T')) await delay(1)
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** User and system CPU time in seconds since the last start; undefined if the system has no /proc. */
  cpuSeconds(): number | undefined {
    return cpuSecondsOf(this.pid)
  }

  /** Kills the server and removes its data. */
  async close(): Promise<void> {
    await this.kill()
    await rm(this.directory, { recursive: true, force: true })
    this.#cancelAtExit()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #gauge(name: string): Promise<number> {
    const metrics = await this.mntr()
    const value = metrics.get(name)
    if (value === undefined)
      throw new Error(`the reply to mntr lacks ${name}; it contains ${[...metrics.keys()].join(', ')}`)
    return Number(value)
  }

  /**
   * The server answers `ruok` before it serves requests; the reply to `srvr` names a mode only afterwards. The server
   * may never answer a probe that arrives too early, because it fails to close that connection. Therefore the timeout
   * is short at first and grows, for slow machines.
   */
  async #serves(elapsed: number): Promise<boolean> {
    try {
      const timeout = Math.max(50, elapsed / 4)
      return (await fourLetterWord(this.host, this.port, 'srvr', timeout)).includes('Mode:')
    } catch {
      return false
    }
  }

  #failure(problem: string): Error {
    const output = readFileSync(join(this.directory, 'output'), 'utf8').slice(-2000)
    return new Error(`Apache ZooKeeper ${problem}. The end of its output:\n${output}`)
  }
}
