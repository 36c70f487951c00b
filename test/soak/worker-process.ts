// A worker's interface for the soak run: the process, the events that it prints, and the proxies between it and the
// servers.
import { join } from 'node:path'
import { attemptsIn, fromLine, isGrant, now, type Event } from '../linearizability/history.ts'
import { FaultProxy } from '../../environment/fault-proxy.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import type { Address } from '../../environment/proxied-connection.ts'
import type { WorkerOptions } from './worker.ts'

const WORKER = join(import.meta.dirname, 'worker.ts')

export class WorkerProcess {
  readonly name: string
  readonly proxies: readonly FaultProxy[]
  readonly events: Event[] = []
  /** Unexpected exits, and everything that the process wrote to stderr. */
  readonly complaints: string[] = []
  readonly #program: ChildProgram
  readonly #settled: Promise<void>
  #expectsExit = false

  private constructor({ name, ...options }: Omit<WorkerOptions, 'connectString'>, proxies: readonly FaultProxy[]) {
    this.name = name
    this.proxies = proxies
    const connectString = proxies.map(proxy => proxy.connectString).join(',')
    const all: WorkerOptions = { name, ...options, connectString }
    this.#program = new ChildProgram(['--import', 'tsx', WORKER, JSON.stringify(all)], { keepsInput: true })
    this.#program.child.stderr.on('data', text => this.complaints.push(`${name}: ${String(text)}`))
    void this.#program.ended.then(({ status }) => {
      if (!this.#expectsExit) this.complaints.push(`${name} exited unexpectedly: ${status}`)
    })
    this.#settled = new Promise(resolve => void this.#read(resolve).then(resolve))
  }

  async #read(onSettled: () => void): Promise<void> {
    for await (const line of this.#program.lines())
      if (line === 'settled') onSettled()
      else this.events.push(fromLine(line))
  }

  static async start(
    options: Omit<WorkerOptions, 'connectString'>,
    servers: readonly Address[],
  ): Promise<WorkerProcess> {
    return new WorkerProcess(options, await Promise.all(servers.map(server => FaultProxy.start(server))))
  }

  killSession(): void {
    this.#program.child.stdin.write('kill\n')
  }

  pause(): void {
    this.#program.kill('SIGSTOP')
  }

  resume(): void {
    this.#program.kill('SIGCONT')
  }

  /** Kills the process with SIGKILL, and records the end of its pending attempts, because the process cannot. */
  async kill(): Promise<void> {
    this.#expectsExit = true
    await this.#program[Symbol.asyncDispose]()
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
    await this.#closeProxies()
  }

  /** Makes the worker start no more attempts. Resolves when its pending attempts are over. */
  async settle(): Promise<void> {
    this.#program.child.stdin.write('stop\n')
    await this.#settled
  }

  async close(): Promise<void> {
    this.#expectsExit = true
    this.#program.child.stdin.end('close\n')
    await this.#program.ended
    await this.#closeProxies()
  }

  async #closeProxies(): Promise<void> {
    await Promise.all(this.proxies.map(proxy => proxy.close()))
  }
}
