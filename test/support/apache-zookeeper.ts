// Real Apache ZooKeeper servers, each a Java process of its own on the loopback interface.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findApacheZooKeeper } from './find-apache-zookeeper.ts'
import { fourLetterWord } from './four-letter-word.ts'
import { freePort } from './free-port.ts'
import { runAtExit } from './at-exit.ts'
import { cpuSecondsOf, threadStates } from './procfs.ts'

export interface ApacheZooKeeperOptions {
  /** Lines of zoo.cfg, beside or in the place of ours. */
  config?: Record<string, string | number>
  /** Switches of the JVM. A later one wins over an earlier one, and these come last. */
  jvm?: string[]
}

const START_DEADLINE = 60_000
const POLL_INTERVAL = 20

/** One standalone server, empty, ready to serve. */
export async function startApacheZooKeeper(options: ApacheZooKeeperOptions = {}): Promise<ApacheZooKeeper> {
  const classPath = await findApacheZooKeeper()
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

/** A server that can be killed, started again and stopped in its tracks. Its directory is its own, and goes with it. */
export class ApacheZooKeeper {
  readonly host = '127.0.0.1'
  readonly port: number
  /** Holds the data, zoo.cfg, and the server's output. */
  readonly directory: string
  readonly #arguments: readonly string[]
  readonly #config: string
  readonly #cancelAtExit: () => void
  #child: ChildProcess | undefined

  constructor(classPath: string, directory: string, port: number, { config, jvm = [] }: ApacheZooKeeperOptions) {
    this.directory = directory
    this.port = port
    const lines = {
      tickTime: 500,
      dataDir: directory,
      clientPort: port,
      clientPortAddress: this.host,
      clientPortListenBacklog: 4096,
      maxClientCnxns: 0,
      minSessionTimeout: 1000,
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

  /** Starts it on the data it has, and resolves when it serves. */
  async start(): Promise<void> {
    if (this.#child) throw new Error('the server is running already')
    await writeFile(join(this.directory, 'zoo.cfg'), this.#config)
    // Into a file: a pipe would hold the event loop, and a full one the server.
    const output = openSync(join(this.directory, 'output'), 'a')
    const java = process.env['JAVA_HOME'] ? join(process.env['JAVA_HOME'], 'bin', 'java') : 'java'
    const child = spawn(java, this.#arguments, { stdio: ['ignore', output, output] })
    closeSync(output)
    // A forgotten server keeps no process alive: it dies with it.
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
    const begun = Date.now()
    for (let elapsed = 0; !(await this.#serves(elapsed)); elapsed = Date.now() - begun) {
      if (elapsed > START_DEADLINE) {
        failure = `did not serve within ${START_DEADLINE} ms`
        await this.kill()
      }
      if (this.#child !== child) throw this.#failure(failure)
      await delay(POLL_INTERVAL)
    }
  }

  /** What the server answers to a four-letter word, within `patience` milliseconds. */
  command(word: string, patience?: number): Promise<string> {
    return fourLetterWord(this.host, this.port, word, patience)
  }

  async mntr(): Promise<Map<string, string>> {
    const lines = (await this.command('mntr')).trimEnd().split('\n')
    return new Map(lines.map(line => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]))
  }

  /** Watches that clients have left at the server. */
  watchCount(): Promise<number> {
    return this.#gauge('zk_watch_count')
  }

  ephemeralsCount(): Promise<number> {
    return this.#gauge('zk_ephemerals_count')
  }

  /** Ends it without a goodbye, and resolves when it is gone. The data stays. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child) return
    child.ref()
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Stops it where it stands: its sockets stay open and nothing answers. Resolves when no thread of it runs. */
  async pause(): Promise<void> {
    process.kill(this.pid, 'SIGSTOP')
    while (!threadStates(this.pid).every(state => state === 'T')) await delay(1)
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** Processor time, user and system, since it was last started; undefined where there is no /proc. */
  cpuSeconds(): number | undefined {
    return cpuSecondsOf(this.pid)
  }

  /** Kills it and removes its data. */
  async close(): Promise<void> {
    await this.kill()
    await rm(this.directory, { recursive: true, force: true })
    this.#cancelAtExit()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #gauge(name: string): Promise<number> {
    const told = await this.mntr()
    const value = told.get(name)
    if (value === undefined) throw new Error(`mntr does not tell ${name}, but ${[...told.keys()].join(', ')}`)
    return Number(value)
  }

  /**
   * `ruok` is answered before requests are; `srvr` names a mode only when they are. A probe that comes too early may
   * never be answered, since the server fails in closing it: so we do not wait long at first, and longer on a slow
   * machine.
   */
  async #serves(elapsed: number): Promise<boolean> {
    try {
      const patience = Math.max(50, elapsed / 4)
      return (await fourLetterWord(this.host, this.port, 'srvr', patience)).includes('Mode:')
    } catch {
      return false
    }
  }

  #failure(what: string): Error {
    const output = readFileSync(join(this.directory, 'output'), 'utf8').slice(-2000)
    return new Error(`Apache ZooKeeper ${what}. The end of its output:\n${output}`)
  }
}
