// A child process in another language that answers requests over stdin and stdout.
import { ChildProgram } from './child-program.ts'

/** The time after which close() kills the process, ms. */
const EXIT_TIMEOUT = 10_000

/** The process answers each line with one line, which starts with `!` if the request failed. */
export class SubprocessRpc {
  readonly #program: ChildProgram
  readonly #replies: AsyncIterator<string>

  constructor(program: string, args: readonly string[]) {
    this.#program = new ChildProgram(args, { program, keepsInput: true })
    this.#replies = this.#program.lines()
  }

  /** Sends all requests at once and returns the replies in the same order. */
  async requestAll(requests: readonly string[]): Promise<string[]> {
    this.#program.child.stdin.write(requests.map(request => request + '\n').join(''))
    const replies: string[] = []
    while (replies.length < requests.length) {
      const next = await this.#replies.next()
      if (next.done === true) throw new Error(`the process ended: ${this.#program.err}`)
      replies.push(next.value)
    }
    return replies
  }

  async request(request: string): Promise<string> {
    const [reply = ''] = await this.requestAll([request])
    if (reply.startsWith('!')) throw new Error(`${request}: ${reply}`)
    return reply
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }

  /** Closes the input. The process then ends, as it would if this process died. Kills it if it does not end in time. */
  async close(): Promise<void> {
    this.#program.child.stdin.end()
    const timer = setTimeout(() => this.#program.kill('SIGKILL'), EXIT_TIMEOUT)
    await this.#program.ended
    clearTimeout(timer)
  }
}
