// A worker's interface for the soak run: the process, the events that it prints, and the proxies between it and the
// servers.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { attemptsIn, fromLine, isGrant, now, type Event } from '../linearizability/history.ts'
import { FaultProxy } from '../../environment/fault-proxy.ts'
import { runAtExit } from '../../environment/at-exit.ts'
import type { Address } from '../../environment/proxied-connection.ts'
import type { WorkerOptions } from './worker.ts'

const WORKER = join(import.meta.dirname, 'worker.ts')

export class WorkerProcess {
  readonly name: string
  readonly proxies: readonly FaultProxy[]
  readonly events: Event[] = []
  /** Unexpected exits, and everything that the process wrote to stderr. */
  readonly complaints: string[] = []
  readonly #child: ChildProcessWithoutNullStreams
  readonly #cancelAtExit: () => void
  readonly #settled: Promise<void>
  #expectsExit = false

  private constructor({ name, ...options }: Omit<WorkerOptions, 'connectString'>, proxies: readonly FaultProxy[]) {
    this.name = name
    this.proxies = proxies
    const connectString = proxies.map(proxy => proxy.connectString).join(',')
    const all: WorkerOptions = { name, ...options, connectString }
    this.#child = spawn(process.execPath, ['--import', 'tsx', WORKER, JSON.stringify(all)])
    this.#cancelAtExit = runAtExit(() => this.#child.kill('SIGKILL'))
    this.#child.stdin.on('error', () => undefined)
    this.#child.stderr.on('data', chunk => this.complaints.push(`${name}: ${String(chunk)}`))
    this.#child.once('exit', (code, signal) => {
      if (!this.#expectsExit) this.complaints.push(`${name} exited unexpectedly: ${String(code ?? signal)}`)
    })
    const lines = createInterface({ input: this.#child.stdout })
    this.#settled = new Promise(resolve => {
      lines.on('line', line => {
        if (line === 'settled') resolve()
        else this.events.push(fromLine(line))
      })
      lines.once('close', resolve)
    })
  }

  static async start(
    options: Omit<WorkerOptions, 'connectString'>,
    servers: readonly Address[],
  ): Promise<WorkerProcess> {
    return new WorkerProcess(options, await Promise.all(servers.map(server => FaultProxy.start(server))))
  }

  killSession(): void {
    this.#child.stdin.write('kill\n')
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** Kills the process with SIGKILL, and records the end of its pending attempts, because the process cannot. */
  async kill(): Promise<void> {
    this.#expectsExit = true
    const closed = once(this.#child, 'close')
    this.#child.kill('SIGKILL')
    await closed
    const at = now()
    for (const attempt of attemptsIn(this.events)) {
      const { id, refused, releasing, released } = attempt
      if (refused !== undefined || released !== undefined) continue
      if (!isGrant(attempt)) {
        this.events.push({ at, is: 'refused', id, why: 'killed' })
        continue
      }
      if (releasing === undefined) this.events.push({ at, is: 'releasing', id })
      this.events.push({ at, is: 'released', id, lastZxid: 0n, isOver: true })
    }
    await this.#cleanUp()
  }

  /** Makes the worker start no more attempts. Resolves when its pending attempts are over. */
  async settle(): Promise<void> {
    this.#child.stdin.write('stop\n')
    await this.#settled
  }

  async close(): Promise<void> {
    this.#expectsExit = true
    const closed = once(this.#child, 'close')
    this.#child.stdin.end('close\n')
    if (this.#child.exitCode === null && this.#child.signalCode === null) await closed
    await this.#cleanUp()
  }

  async #cleanUp(): Promise<void> {
    this.#cancelAtExit()
    await Promise.all(this.proxies.map(proxy => proxy.close()))
  }
}
