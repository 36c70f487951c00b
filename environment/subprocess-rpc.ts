// A child process in another language that answers requests over stdin and stdout.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { runAtExit } from './at-exit.ts'

/** The time after which close() kills the process, ms. */
const EXIT_TIMEOUT = 10_000

/** The process answers each line with one line, which starts with `!` if the request failed. */
export class SubprocessRpc {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #replies: AsyncIterator<string>
  readonly #cancelAtExit: () => void
  #stderr = ''

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args)
    this.#cancelAtExit = runAtExit(() => this.#child.kill('SIGKILL'))
    this.#child.stderr.on('data', chunk => (this.#stderr += String(chunk)))
    // A write to a killed process fails here. The end of its output already reports that.
    this.#child.stdin.on('error', () => undefined)
    this.#child.on('error', error => (this.#stderr += error.message))
    this.#replies = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** Sends all requests at once and returns the replies in the same order. */
  async requestAll(requests: readonly string[]): Promise<string[]> {
    this.#child.stdin.write(requests.map(request => request + '\n').join(''))
    const replies: string[] = []
    while (replies.length < requests.length) {
      const next = await this.#replies.next()
      if (next.done === true) throw new Error(`the process ended: ${this.#stderr}`)
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
    this.#child.kill('SIGKILL')
    await this.close()
  }

  /** Closes the input. The process then ends, as it would if this process died. Kills it if it does not end in time. */
  async close(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.stdin.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), EXIT_TIMEOUT)
    if (this.#child.exitCode === null && this.#child.signalCode === null) await closed
    clearTimeout(timer)
    this.#cancelAtExit()
  }
}
