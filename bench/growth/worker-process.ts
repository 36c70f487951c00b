// A measuring process, seen from the harness.
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

  /** Without a word to the servers, which end with the run: of a million watches each would have to be told. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited.catch(() => undefined)
  }

  async #request(message: Task | MeasureRequest): Promise<unknown> {
    const answered = once(this.#child, 'message')
    this.#child.send(message)
    const [answer] = (await Promise.race([answered, this.#exited])) as [unknown]
    return answer
  }
}
