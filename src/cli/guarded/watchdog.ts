// A second process that ends the program of a lock if this one cannot.
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../runtime/clock.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { ownSession } from './process-tree.ts'

/** Written for both dist and src. */
const main = fileURLToPath(new URL(import.meta.url).href.replace(/watchdog\.([jt]s)$/, 'watchdog-main.$1'))

/** Keeps Node from opening its debugger on SIGUSR1 before the watchdog has a listener (Node 22.14 or later has it). */
const WITHOUT_DEBUGGER = ['--disable-sigusr1'].filter(flag => process.allowedNodeEnvironmentFlags.has(flag))

/**
 * Kills the program at a time that must be put off again and again. So the program does not outlive the lock if this
 * process is killed or stopped, or if its terminal blocks it. If somebody kills the watchdog, another one begins.
 */
export class Watchdog {
  readonly #clock: Clock
  readonly #arguments: readonly string[]
  #child: ChildProcess | undefined
  #order = ''
  #isStopped = false

  /**
   * @param grace how long the program has to end if this process dies, in milliseconds
   * @param mark what no other program has in its environment, as `NAME=value`
   * @throws CommandError if the process cannot be started
   */
  constructor(clock: Clock, grace: number, mark: string) {
    this.#clock = clock
    this.#arguments = [main, `within=${ownSession() ?? 0}`, String(grace), mark]
    this.#start()
    if (this.#child?.pid === undefined)
      throw new CommandError(statuses.internal, 'cannot start a second process, which watches the program')
  }

  /**
   * Puts the end off.
   * @param leader the pid of the program, which leads a session
   * @param killIn when the program is killed unless this is called again, in milliseconds
   */
  feed(leader: number, killIn: number): void {
    // By the wall clock, which both processes share.
    this.#order = `${leader} ${Math.floor(this.#clock.wallNow() + killIn)}\n`
    if (this.#child?.pid === undefined) this.#start()
    else this.#child.stdin?.write(this.#order)
  }

  /** Ends the watchdog, because the program has ended. */
  stop(): void {
    this.#isStopped = true
    this.#child?.kill('SIGKILL')
  }

  #start(): void {
    // In a session of its own, which gets no signals of a terminal.
    const child = spawn(process.execPath, [...process.execArgv, ...WITHOUT_DEBUGGER, ...this.#arguments], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#child = child
    child.unref()
    // It has ended, or could not be started. Then the next feed() tries again.
    child.on('error', () => undefined)
    child.stdin.on('error', () => undefined)
    child.once('exit', () => {
      if (!this.#isStopped && this.#child === child) this.#start()
    })
    if (this.#order !== '') child.stdin.write(this.#order)
  }
}
