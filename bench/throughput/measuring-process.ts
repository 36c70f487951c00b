// The main process's interface to a measuring process.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Request, Sample, Task } from './workloads.ts'

/** The time limit of one request, ms. */
const DEADLINE = 120_000

export class MeasuringProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<never>
  #onReply: (reply: Sample | 'ready') => void = () => undefined

  /** @param changeWatchedNode called when the process is ready to be notified */
  constructor(program: string, task: Task, execArgv: readonly string[], changeWatchedNode: () => void) {
    this.#child = fork(program, { execArgv: ['--expose-gc', ...execArgv] })
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => {
      const { subject, measure } = task
      throw new Error(`${subject} exited with ${code ?? signal} during its measurement: ${JSON.stringify(measure)}`)
    })
    this.#exited.catch(() => undefined)
    this.#child.on('message', (message: 'change' | 'now' | 'ready' | Sample) => {
      if (message === 'change') this.#child.send('ready')
      else if (message === 'now') changeWatchedNode()
      else this.#onReply(message)
    })
  }

  /** Resolves to the reply of the process, and rejects if the process exits. */
  async request(message: Task | Request): Promise<Sample | 'ready'> {
    const reply = new Promise<Sample | 'ready'>(resolve => (this.#onReply = resolve))
    const deadline = setTimeout(() => this.#child.kill('SIGKILL'), DEADLINE)
    this.#child.send(message)
    try {
      return await Promise.race([reply, this.#exited])
    } finally {
      clearTimeout(deadline)
    }
  }

  /** Waits until the process has exited, so that processes do not overlap. It exits after its last reply. */
  async exited(): Promise<void> {
    await this.#exited.catch(() => undefined)
  }
}
