// A measuring process, seen from the harness.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Question, Sample, Task } from './workloads.ts'

export class Station {
  readonly size: number
  readonly #task: Task
  readonly #child: ChildProcess
  readonly #gone: Promise<never>

  constructor(program: string, task: Task, execArgv: readonly string[], signal?: AbortSignal) {
    this.size = task.size
    this.#task = task
    const end = signal && { signal, killSignal: 'SIGKILL' as const }
    this.#child = fork(program, { execArgv: ['--expose-gc', ...execArgv], ...end })
    this.#gone = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`the process for ${task.size} ${task.crowd} ended with ${code ?? signal}`)
    })
    this.#gone.catch(() => undefined)
  }

  async ready(): Promise<void> {
    await this.#ask(this.#task)
  }

  async measure(question: Question): Promise<Sample> {
    return (await this.#ask(question)) as Sample
  }

  /** Without a word to the servers, which end with the run: of a million watches each would have to be told. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#gone.catch(() => undefined)
  }

  async #ask(message: Task | Question): Promise<unknown> {
    const answered = once(this.#child, 'message')
    this.#child.send(message)
    const [answer] = (await Promise.race([answered, this.#gone])) as [unknown]
    return answer
  }
}
