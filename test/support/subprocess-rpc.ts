// A program of another language that is asked over stdin.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { runAtExit } from './at-exit.ts'

/** Milliseconds. */
const EXIT_TIMEOUT = 10_000

/** It answers each line with one line, which starts with `!` where something is wrong. */
export class SubprocessRpc {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>
  readonly #cancelAtExit: () => void
  #stderr = ''

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args)
    this.#cancelAtExit = runAtExit(() => this.#child.kill('SIGKILL'))
    this.#child.stderr.on('data', chunk => (this.#stderr += String(chunk)))
    // Of a program that was killed: its end is told by its answers, which cease.
    this.#child.stdin.on('error', () => undefined)
    this.#child.on('error', error => (this.#stderr += error.message))
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** One answer for each question, in order. */
  async requestAll(questions: readonly string[]): Promise<string[]> {
    this.#child.stdin.write(questions.map(question => question + '\n').join(''))
    const answers: string[] = []
    while (answers.length < questions.length) {
      const next = await this.#answers.next()
      if (next.done === true) throw new Error(`the program ended: ${this.#stderr}`)
      answers.push(next.value)
    }
    return answers
  }

  async request(question: string): Promise<string> {
    const [answer = ''] = await this.requestAll([question])
    if (answer.startsWith('!')) throw new Error(`${question}: ${answer}`)
    return answer
  }

  /** Ends it without a goodbye. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.close()
  }

  /** It ends when its input does, as it also would if this process died. One that does not listen is killed. */
  async close(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.stdin.end()
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), EXIT_TIMEOUT)
    if (this.#child.exitCode === null && this.#child.signalCode === null) await closed
    clearTimeout(patience)
    this.#cancelAtExit()
  }
}
