// The program that a command runs: a process group of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { CommandError } from '../runner/failure.ts'

/** A program that runs. Signals go to its whole process group. */
export class Program {
  readonly #child: ChildProcess
  /**
   * Resolves with the exit status when the program has ended; 128 plus its number for a signal, as in a shell.
   * @throws CommandError with the status of a shell if the program cannot be started
   */
  readonly ended: Promise<number>

  constructor([file = '', ...args]: readonly string[], env: Readonly<Record<string, string | undefined>>) {
    // `detached` makes a process group, so that no descendant goes on without the lock. It also takes the terminal's
    // Ctrl-C away from the program, so the caller hands signals on.
    this.#child = spawn(file, args, { stdio: 'inherit', detached: true, env })
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
      this.#child.once('error', (error: Error & { code?: string }) => {
        const isMissing = error.code === 'ENOENT'
        reject(
          new CommandError(isMissing ? 127 : 126, `cannot start ${file}: ${isMissing ? 'not found' : error.message}`),
        )
      })
    })
  }

  /** Sends a signal to the process group. Does nothing if it has ended. */
  kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // No process of the group is left.
    }
  }
}
