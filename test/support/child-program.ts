// A program of Node.js that a test starts, and what it prints.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { runAtExit } from '../../environment/at-exit.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export class ChildProgram {
  readonly #child: ChildProcess
  /** Resolves when the program has ended and all that it printed was read. */
  readonly ended: Promise<Ended>
  /** What it has printed so far. */
  out = ''
  err = ''

  /** @param args those of Node.js. With `--import tsx` first, it runs TypeScript */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const cancelAtExit = runAtExit(() => child.kill('SIGKILL'))
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text))
    this.#child = child
    this.ended = once(child, 'close').then(() => {
      cancelAtExit()
      return { code: child.exitCode, signal: child.signalCode, out: this.out, err: this.err }
    })
  }

  /** Runs a module whose text is given. */
  static of(script: string): ChildProgram {
    return new ChildProgram(['--import', 'tsx', '--input-type=module', '--eval', script])
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}
