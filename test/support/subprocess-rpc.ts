// A program of another language that is asked over stdin.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { lastWill } from './at-exit.ts'

/** Milliseconds. */
const PATIENCE = 10_000

/** It answers each line with one line, which starts with `!` where something is wrong. */
export class LineProgram {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>
  readonly #takeBackWill: () => void
  #complaints = ''

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args)
    this.#takeBackWill = lastWill(() => this.#child.kill('SIGKILL'))
    this.#child.stderr.on('data', chunk => (this.#complaints += String(chunk)))
    // Of a program that was killed: its end is told by its answers, which cease.
    this.#child.stdin.on('error', () => undefined)
    this.#child.on('error', error => (this.#complaints += error.message))
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** One answer for each question, in order. */
  async ask(questions: readonly string[]): Promise<string[]> {
    this.#child.stdin.write(questions.map(question => question + '\n').join(''))
    const answers: string[] = []
    while (answers.length < questions.length) {
      const next = await this.#answers.next()
      if (next.done === true) throw new Error(`the program ended: ${this.#complaints}`)
      answers.push(next.value)
    }
    return answers
  }

  async askOne(question: string): Promise<string> {
    const [answer = ''] = await this.ask([question])
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
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE)
    if (this.#child.exitCode === null && this.#child.signalCode === null) await closed
    clearTimeout(patience)
    this.#takeBackWill()
  }
}
