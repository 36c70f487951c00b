// The program that a command runs: it leads a session of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { getSystemErrorMap } from 'node:util'
import type { Clock } from '../../runtime/clock.ts'
import { CommandError } from '../runner/failure.ts'
import { ProcessTree } from './process-tree.ts'

/** How often the processes that the program has left behind are looked at, in milliseconds: ever less often. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 200

export interface ProgramOptions {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** `pipe`: the caller writes and reads its three streams. Otherwise, the output is that of this process. */
  readonly stdin: 'inherit' | 'ignore' | 'pipe'
  readonly clock: Clock
}

/** A program that runs, with all processes that it has started. */
export class Program {
  readonly pid: number
  /** The streams of the program, which are null unless they are pipes. */
  readonly streams: Pick<ChildProcess, 'stdin' | 'stdout' | 'stderr'>
  readonly #tree: ProcessTree
  readonly #clock: Clock
  #isKilled = false
  /** Resolves with the exit status when the program has ended; 128 plus its number for a signal, as in a shell. */
  readonly ended: Promise<number>

  private constructor(pid: number, streams: Program['streams'], ended: Promise<number>, clock: Clock) {
    this.pid = pid
    this.streams = streams
    this.ended = ended
    this.#clock = clock
    this.#tree = new ProcessTree(pid)
  }

  /**
   * Starts the program.
   * @throws CommandError with the status of a shell if that is not possible
   */
  static async start({ words: [file = '', ...args], env, stdin, clock }: ProgramOptions): Promise<Program> {
    try {
      // `detached` makes a session, so that no descendant goes on without the lock. It also takes the terminal's Ctrl-C
      // away from the program, so the caller hands signals on.
      const output = stdin === 'pipe' ? 'pipe' : 'inherit'
      const child: ChildProcess = spawn(file, args, { stdio: [stdin, output, output], detached: true, env })
      const ended = new Promise<number>(resolve => {
        child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
      })
      if (child.pid !== undefined) return new Program(child.pid, child, ended, clock)
      throw await new Promise<Error>(resolve => child.once('error', resolve))
    } catch (error) {
      const { code, errno = 0, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') throw new CommandError(127, `cannot start ${file}: not found`)
      const why = file === '' ? 'its name is empty' : (getSystemErrorMap().get(errno)?.[1] ?? message)
      throw new CommandError(126, `cannot start ${file}: ${why}`)
    }
  }

  /**
   * Sends a signal to the program and to all processes that it has started. Returns false if one of them belongs to
   * another user, so that it gets none. Does nothing if all have ended.
   */
  kill(signal: NodeJS.Signals): boolean {
    this.#isKilled ||= signal === 'SIGKILL'
    return this.#tree.kill(signal)
  }

  /**
   * Resolves when no process of the program is left.
   * @param onWaiting called once after a second, with the number of processes that are left
   */
  async allEnded(onWaiting: (count: number | undefined) => void): Promise<void> {
    const isSaidAt = this.#clock.now() + 1000
    let isSaid = false
    for (let pause = FIRST_PAUSE; !this.#tree.isEmpty; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      // A process may have started another one meanwhile.
      if (this.#isKilled) this.#tree.kill('SIGKILL')
      if (!isSaid && this.#clock.now() > isSaidAt) {
        isSaid = true
        onWaiting(this.#tree.size)
      }
      await new Promise<void>(resolve => void this.#clock.setTimeout(resolve, pause))
    }
  }
}
