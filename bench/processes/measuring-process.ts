// A process that measures, as its parent sees it: it gets one request after the other, and replies to each.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Request, Sample, Turns } from './turns.ts'

export interface ProcessOptions {
  /** What it measures, for the error if the process exits. */
  about: string
  /** Options of node. */
  execArgv: readonly string[]
  /** Kills the process, so that its requests reject. */
  signal?: AbortSignal | undefined
}

/** The time limit of a reply, ms. The longest one is that of a process that sets a million watches. */
const DEADLINE = 600_000

/** What a process sends. A notice is no reply: it asks this process for something. */
type Message<Notice> = Sample | 'ready' | Notice

export class MeasuringProcess<Notice = never> implements Turns {
  readonly #child: ChildProcess
  readonly #exited: Promise<never>
  #onReply: (reply: Message<Notice>) => void = () => undefined

  private constructor(
    program: string,
    { about, execArgv, signal }: ProcessOptions,
    answer: (message: Message<Notice>) => ((send: (message: string) => void) => void) | undefined,
  ) {
    const end = signal && { signal, killSignal: 'SIGKILL' as const }
    this.#child = fork(program, { execArgv: ['--expose-gc', ...execArgv], ...end })
    this.#exited = once(this.#child, 'exit').then(([code, killedBy]) => {
      throw new Error(`the process for ${about} ended with ${code ?? killedBy}`)
    })
    this.#exited.catch(() => undefined)
    this.#child.on('message', (message: Message<Notice>) => {
      const respond = answer(message)
      if (respond === undefined) this.#onReply(message)
      else respond(text => this.#send(text))
    })
  }

  /**
   * Resolves when the process is ready to measure its task.
   * @param program a file of JavaScript that calls `answerTurns`
   * @param answer called with each message. If it returns a function, the message is no reply, and the function is
   * called with what sends an answer
   */
  static async open<Notice = never>(
    program: string,
    task: object,
    options: ProcessOptions,
    answer: (message: Message<Notice>) => ((send: (message: string) => void) => void) | undefined = () => undefined,
  ): Promise<MeasuringProcess<Notice>> {
    const process = new MeasuringProcess(program, options, answer)
    await process.#request(task)
    return process
  }

  measure(): Promise<Sample> {
    const turn: Request = 'turn'
    return this.#request(turn) as Promise<Sample>
  }

  /** Waits until the process has exited, so that processes do not overlap. */
  async end(): Promise<void> {
    const end: Request = 'end'
    await this.#request(end).catch(() => undefined)
  }

  /** Resolves with the reply of the process. Rejects if the process exits, or takes longer than {@link DEADLINE}. */
  async #request(message: Request | object): Promise<Message<Notice>> {
    const reply = new Promise<Message<Notice>>(resolve => (this.#onReply = resolve))
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), DEADLINE)
    this.#send(message)
    try {
      return await Promise.race([reply, this.#exited])
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Its errors are dropped, because the exit of the process rejects the request. Without a callback, a message to a
   * process that was just killed would end this process too: with `EPIPE`, as an event that nobody listens to.
   */
  #send(message: string | object): void {
    this.#child.send(message, () => undefined)
  }
}

/** A process that listens on a port until {@link end}. */
export interface Helper extends AsyncDisposable {
  port: number
  pid: number | undefined
  end(): Promise<void>
}

/** Starts a program of TypeScript that listens on a port, and sends its number. */
export async function startHelper(program: URL, ...args: string[]): Promise<Helper> {
  const child = fork(program, args, { execArgv: ['--import', 'tsx'] })
  const exited = once(child, 'exit')
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const end = async () => {
    if (child.connected) child.disconnect()
    await exited
  }
  return { port, pid: child.pid, end, [Symbol.asyncDispose]: end }
}
