// The main process's interface to a worker process.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { MeasureRequest, Sample, Task } from './workloads.ts'

export class WorkerProcess {
  readonly size: number
  readonly #task: Task
  readonly #child: ChildProcess
  readonly #exited: Promise<never>

  constructor(program: string, task: Task, execArgv: readonly string[], signal?: AbortSignal) {
    this.size = task.size
    this.#task = task
    const end = signal && { signal, killSignal: 'SIGKILL' as const }
    this.#child = fork(program, { execArgv: ['--expose-gc', ...execArgv], ...end })
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`the process for ${task.size} ${task.population} ended with ${code ?? signal}`)
    })
    this.#exited.catch(() => undefined)
  }

  async ready(): Promise<void> {
    await this.#request(this.#task)
  }

  async measure(question: MeasureRequest): Promise<Sample> {
    return (await this.#request(question)) as Sample
  }

  /**
   * Kills the process without closing its sessions, because the server would have to notify up to a million watches.
   * The server keeps the sessions until it ends with the run.
   */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited.catch(() => undefined)
  }

  async #request(message: Task | MeasureRequest): Promise<unknown> {
    const replied = once(this.#child, 'message')
    this.#child.send(message)
    const [reply] = (await Promise.race([replied, this.#exited])) as [unknown]
    return reply
  }
}
