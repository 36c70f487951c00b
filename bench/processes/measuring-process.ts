// A process that measures, as its parent sees it: it gets one request after the other, and replies to each.
// May import: esbuild.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface ProcessOptions {
  /** What it measures, for the error if the process exits. */
  about: string
  /** Options of node. */
  execArgv: readonly string[]
  /** Kills the process, so that its request rejects. */
  signal?: AbortSignal | undefined
}

/** Messages that are no replies have the type `Notice`. */
export class MeasuringProcess<Request, Reply, Notice = never> {
  readonly #child: ChildProcess
  readonly #exited: Promise<never>
  #onReply: (reply: Reply) => void = () => undefined

  /**
   * @param program a file of JavaScript
   * @param answer called with each message. If it returns a function, the message is no reply, and the function is
   * called with what sends an answer
   */
  constructor(
    program: string,
    { about, execArgv, signal }: ProcessOptions,
    answer: (message: Reply | Notice) => ((send: (message: string) => void) => void) | undefined = () => undefined,
  ) {
    const end = signal && { signal, killSignal: 'SIGKILL' as const }
    this.#child = fork(program, { execArgv: ['--expose-gc', ...execArgv], ...end })
    this.#exited = once(this.#child, 'exit').then(([code, killedBy]) => {
      throw new Error(`the process for ${about} ended with ${code ?? killedBy}`)
    })
    this.#exited.catch(() => undefined)
    this.#child.on('message', (message: Reply | Notice) => {
      const respond = answer(message)
      if (respond === undefined) this.#onReply(message as Reply)
      else respond(text => this.#send(text))
    })
  }

  /** Resolves with the reply of the process. Rejects if the process exits, or takes longer than `deadline` ms. */
  async request(message: Request, deadline = 600_000): Promise<Reply> {
    const reply = new Promise<Reply>(resolve => (this.#onReply = resolve))
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), deadline)
    this.#send(message as object)
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

  /** Waits until the process has exited by itself, so that processes do not overlap. */
  async exited(): Promise<void> {
    await this.#exited.catch(() => undefined)
  }

  /** Kills the process without closing its sessions, because the server would have to notify all their watches. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.exited()
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

/** Rotates the order, so that none is always measured first. */
export const rotated = <T>(all: readonly T[], round: number): T[] => {
  const first = round % Math.max(1, all.length)
  return [...all.slice(first), ...all.slice(0, first)]
}
