// A program that tests or benchmarks start, what it prints, and what it reads.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createInterface } from 'node:readline'
import { runAtExit } from './at-exit.ts'

export interface Ended {
  /** The exit status, or the name of the signal that ended the process. */
  readonly status: number | NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface ChildProgramOptions {
  /** Default: Node.js. */
  readonly program?: string
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The text or bytes of stdin. Default: none. */
  readonly input?: string | Uint8Array
  /** Leaves stdin open until it is ended. Default false. */
  readonly keepsInput?: boolean
}

export class ChildProgram {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves when the program has ended and all that it printed was read. */
  readonly ended: Promise<Ended>
  readonly #printed: Buffer[] = []
  /** What it has printed to stderr so far, or why it could not be started. */
  err = ''

  /** @param args those of Node.js, if there is no other program. With `--import tsx` first, it runs TypeScript */
  constructor(args: readonly string[], options: ChildProgramOptions = {}) {
    const { program = process.execPath, input, keepsInput = false, ...given } = options
    const child = spawn(program, args, { ...given, stdio: 'pipe' })
    const cancelAtExit = runAtExit(() => child.kill('SIGKILL'))
    child.stdout.on('data', (bytes: Buffer) => this.#printed.push(bytes))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text))
    child.on('error', error => (this.err += error.message))
    // A write fails if the process has ended. The end of its output already reports that.
    child.stdin.on('error', () => undefined)
    if (!keepsInput) child.stdin.end(input)
    this.child = child
    this.ended = new Promise(resolve => {
      child.once('close', (code, signal) => {
        cancelAtExit()
        resolve({ status: code ?? signal, out: this.out, err: this.err })
      })
    })
  }

  /** Runs a module whose text is given. */
  static of(script: string): ChildProgram {
    return new ChildProgram(['--import', 'tsx', '--input-type=module', '--eval', script])
  }

  /** The bytes that it has printed so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#printed)
  }

  /** What it has printed so far. */
  get out(): string {
    return String(this.bytes)
  }

  /** Returns the lines that it will print. */
  lines(): AsyncIterableIterator<string> {
    return createInterface({ input: this.child.stdout })[Symbol.asyncIterator]() as AsyncIterableIterator<string>
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Kills the process with SIGKILL, and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL')
    await this.ended
  }
}
