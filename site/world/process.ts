// The process of a simulated client: it can be stopped, as by a long garbage collection, and it can die. It is the clock
// of the program that runs in it.
import type { Clock } from '../../src/index.ts'

export class Process implements Clock {
  protected readonly clock: Clock
  /** The tasks to run when the process goes on; undefined while it runs. */
  #backlog: (() => void)[] | undefined
  #isDead = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  get isStopped(): boolean {
    return this.#backlog !== undefined
  }

  get isDead(): boolean {
    return this.#isDead
  }

  now(): number {
    return this.clock.now()
  }

  wallNow(): number {
    return this.clock.wallNow()
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const timer: Timer = { callback, inner: undefined }
    timer.inner = this.clock.setTimeout(() => this.run(() => timer.callback?.()), ms)
    return timer
  }

  clearTimeout(timer: unknown): void {
    if (timer === undefined) return
    // The timer may have fired while the process was stopped.
    ;(timer as Timer).callback = undefined
    this.clock.clearTimeout((timer as Timer).inner)
  }

  sleep(ms: number): Promise<void> {
    return new Promise(resolve => void this.setTimeout(resolve, ms))
  }

  /** Runs a task in the process: now, when the process goes on, or never if it is dead. */
  run(task: () => void): void {
    if (this.#backlog !== undefined) this.#backlog.push(task)
    else if (!this.#isDead) task()
  }

  stop(): void {
    this.#backlog ??= []
  }

  /** Runs what the process has missed, each task in a separate turn, as an event loop does. */
  resume(): void {
    const tasks = this.takeBacklog()
    const next = () => {
      // The process may have been stopped again.
      if (this.#backlog !== undefined) this.#backlog.unshift(...tasks.splice(0))
      else tasks.shift()?.()
      if (tasks.length > 0) this.clock.setTimeout(next, 0)
    }
    if (tasks.length > 0) this.clock.setTimeout(next, 0)
  }

  /** Lets the process run, and returns what it has missed. */
  protected takeBacklog(): (() => void)[] {
    const tasks = this.#backlog ?? []
    this.#backlog = undefined
    return tasks
  }

  die(): void {
    this.#isDead = true
    this.#backlog = undefined
  }
}

interface Timer {
  callback: (() => void) | undefined
  inner: unknown
}
