// The terminal of a shell: a line that is typed, with history and completion, and text that appears above it.
import { clearScreenDown, createInterface, cursorTo, moveCursor, type Interface } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import type { Completion } from './completion.ts'
import { HISTORY_SIZE, type History } from './history.ts'

export interface TerminalOptions {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  readonly history: History
  readonly complete: (line: string) => Promise<Completion>
}

/** The largest number of candidates that are shown. */
const MOST_SHOWN = 200

export class Terminal {
  readonly #stdin: ReadStream
  readonly #stdout: WriteStream
  readonly #readline: Interface
  /** Lines that were typed or pasted while a command ran. */
  readonly #lines: string[] = []
  #waiting: ((line: string | undefined) => void) | undefined
  #isClosed = false

  constructor({ stdin, stdout, history, complete }: TerminalOptions) {
    this.#stdin = stdin
    this.#stdout = stdout
    this.#readline = createInterface({
      input: stdin,
      output: stdout,
      terminal: true,
      history: history.read(),
      historySize: HISTORY_SIZE,
      removeHistoryDuplicates: true,
      completer: (line: string, callback: (error: null, result: [string[], string]) => void) => {
        const none: Completion = [[], line]
        void complete(line)
          .catch(() => none)
          .then(result => callback(null, this.#shown(result)))
      },
    })
    this.#readline.on('history', (lines: string[]) => {
      const [newest = ''] = lines
      // A line that starts with a space is not kept, as in other shells: it may hold a secret.
      if (newest.startsWith(' ')) lines.shift()
      else history.add(newest)
    })
    this.#readline.on('line', line => {
      if (this.#waiting === undefined) this.#lines.push(line)
      else this.#settle(line)
    })
    this.#readline.on('close', () => {
      this.#isClosed = true
      // What follows the shell begins in a line of its own.
      if (this.#waiting !== undefined) stdout.write('\n')
      this.#settle(undefined)
    })
    this.#readline.on('SIGINT', () => this.interrupt())
  }

  /** Resolves with the next line, or with undefined if the user has ended the input. */
  readLine(prompt: string): Promise<string | undefined> {
    const line = this.#lines.shift()
    if (line !== undefined || this.#isClosed) return Promise.resolve(line)
    this.#stdin.setRawMode(true)
    this.#readline.setPrompt(prompt)
    this.#readline.prompt()
    return new Promise(resolve => (this.#waiting = resolve))
  }

  /** Changes the prompt of the line that is being typed. */
  setPrompt(prompt: string): void {
    this.#readline.setPrompt(prompt)
    if (this.#waiting !== undefined) this.#readline.prompt(true)
  }

  /** Prints whole lines above the line that is being typed. */
  print(text: string): void {
    if (this.#waiting === undefined) {
      this.#stdout.write(text)
      return
    }
    moveCursor(this.#stdout, 0, -this.#readline.getCursorPos().rows)
    cursorTo(this.#stdout, 0)
    clearScreenDown(this.#stdout)
    this.#stdout.write(text)
    // The cursor is in the first row now. Readline would move it up from the row in which it was.
    if ('prevRows' in this.#readline) this.#readline.prevRows = 0
    this.#readline.prompt(true)
  }

  /** Empties the line that is being typed, as Ctrl-C does in other shells. Has no effect while a command runs. */
  interrupt(): void {
    if (this.#waiting === undefined) return
    this.#readline.write(null, { ctrl: true, name: 'e' })
    this.#readline.write(null, { ctrl: true, name: 'u' })
    this.#stdout.write('^C\n')
    this.#readline.prompt()
  }

  /**
   * Gives the terminal to a command: keys are not read, and Ctrl-C is a signal, as the terminal was when the shell
   * started.
   */
  release(): void {
    if (this.#isClosed) return
    this.#readline.pause()
    this.#stdin.setRawMode(false)
  }

  close(): void {
    this.#readline.close()
  }

  #settle(line: string | undefined): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.(line)
  }

  #shown([candidates, typed]: Completion): [string[], string] {
    if (candidates.length <= MOST_SHOWN) return [[...candidates], typed]
    const [first = '', ...others] = candidates
    let length = first.length
    for (const each of others) while (!each.startsWith(first.slice(0, length))) length--
    if (length > typed.length) return [[first.slice(0, length)], typed]
    this.print(`${candidates.length} nodes: type more of the name\n`)
    return [[], typed]
  }
}
