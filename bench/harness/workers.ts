// The threads, as the main one sees them.
import { Worker } from 'node:worker_threads'
import { goalMemory, Goals } from './progress-counters.ts'
import type { Scenario } from './scenario.ts'
import type { Assignment, Duties, Mark, Notice, Order, Reply, ThreadData } from './worker.ts'
import { together, type Traffic } from '../measure/frame-counter.ts'

export interface CrewOwner {
  failed(error: Error): void
  opened(): void
}

/** tsx loads TypeScript in the main thread only, unless it is told to in each. */
const boot = (module: string) =>
  `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`

export class Crew {
  readonly #workers: readonly Worker[]
  readonly #goals: Goals
  readonly #replies = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>()
  readonly #owner: CrewOwner
  #lastId = 0
  #onReached: () => void = () => undefined
  #isClosing = false

  constructor(threads: number, servers: string, fencePath: string, owner: CrewOwner) {
    this.#owner = owner
    const memory = goalMemory()
    this.#goals = new Goals(memory, () => undefined)
    const workerData: ThreadData = { servers, fencePath, goals: memory, epoch: process.hrtime.bigint() }
    const thread = boot(new URL('worker.ts', import.meta.url).href)
    this.#workers = Array.from({ length: threads }, () => {
      const worker = new Worker(thread, { eval: true, workerData })
      worker.on('message', (message: Notice | Reply) => this.#hear(message))
      worker.on('error', error => this.#lost(error))
      worker.on('exit', () => this.#lost(new Error('a thread has ended')))
      return worker
    })
  }

  get threads(): number {
    return this.#workers.length
  }

  /** Grows as long as anything happens. */
  get pulse(): number {
    return this.#goals.pulse
  }

  async open(sessions: number): Promise<void> {
    await Promise.all(this.#workers.map((worker, i) => this.#ask(worker, 'open', this.#share(sessions, i).length)))
  }

  /** Seats are dealt out like cards; the conductor's is the last. */
  async assemble(
    { name, hasConductor, sessions = Infinity }: Scenario,
    directory: string,
    size: number,
  ): Promise<void> {
    const most = Math.ceil(sessions / this.threads)
    const assign = (worker: Worker, i: number) => {
      const seats = this.#share(hasConductor === true ? size + 1 : size, i)
      const assignment = { scenario: name, directory, size, seats, sessions: Math.min(seats.length, most) }
      return this.#ask(worker, 'assemble', assignment satisfies Assignment)
    }
    await Promise.all(this.#workers.map(assign))
  }

  async turnTo(directory: string): Promise<void> {
    await this.#askAll('turnTo', directory)
  }

  /**
   * @param atOnce of all, so many in each thread, and the next ones when these have had answers
   * @returns when the first of them began
   */
  async act(deed: string, who: number | 'all', atOnce = Infinity): Promise<number> {
    if (who === 'all') return Math.min(...(await this.#askAll('act', deed, 'all', atOnce)).map(at => at ?? Infinity))
    const worker = this.#workers[who % this.threads]
    return (worker && (await this.#ask(worker, 'act', deed, who, atOnce))) ?? NaN
  }

  async fence(which: 'all' | 'conductor'): Promise<void> {
    await this.#askAll('fence', which)
  }

  async traffic(): Promise<Traffic> {
    return together(await this.#askAll('traffic'))
  }

  /** In the order of time. */
  async marks(): Promise<Mark[]> {
    return (await this.#askAll('marks')).flat().sort((a, b) => a.at - b.at)
  }

  async busy(): Promise<number[]> {
    return this.#askAll('busy')
  }

  async disband(directory: string): Promise<void> {
    await this.#askAll('disband', directory)
  }

  /** What a phase leads to. Nothing may be under way. */
  expect(marks: number, frames: number | undefined): void {
    this.#goals.set(marks, frames)
  }

  /** Resolves with true when all has come, or with false when it has taken too long. One may wait at a time. */
  reached(patience: number): Promise<boolean> {
    return new Promise(resolve => {
      const settle = (reached: boolean) => {
        clearTimeout(timer)
        this.#onReached = () => undefined
        resolve(reached)
      }
      const timer = setTimeout(() => settle(this.#goals.isReached), patience)
      this.#onReached = () => {
        if (this.#goals.isReached) settle(true)
      }
      this.#onReached()
    })
  }

  /** Closes all sessions, as far as servers can be reached. */
  async close(patience: number): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    const closed = Promise.allSettled(this.#workers.map(worker => this.#ask(worker, 'close')))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([closed, new Promise(resolve => (timer = setTimeout(resolve, patience)))])
    clearTimeout(timer)
    await Promise.all(this.#workers.map(worker => worker.terminate()))
  }

  /** The numbers of a thread's members. */
  #share(size: number, thread: number): number[] {
    return Array.from({ length: size }, (_, i) => i).filter(i => i % this.threads === thread)
  }

  #askAll<D extends keyof Duties>(duty: D, ...args: Parameters<Duties[D]>): Promise<Awaited<ReturnType<Duties[D]>>[]> {
    return Promise.all(this.#workers.map(worker => this.#ask(worker, duty, ...args)))
  }

  #ask<D extends keyof Duties>(
    worker: Worker,
    duty: D,
    ...args: Parameters<Duties[D]>
  ): Promise<Awaited<ReturnType<Duties[D]>>> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#replies.set(id, { resolve, reject })
      worker.postMessage({ id, duty, args } satisfies Order)
    })
  }

  #hear(message: Notice | Reply): void {
    if ('id' in message) {
      const reply = this.#replies.get(message.id)
      this.#replies.delete(message.id)
      if ('error' in message) reply?.reject(message.error)
      else reply?.resolve(message.value as never)
    } else if (message.is === 'reached') this.#onReached()
    else if (message.is === 'opened') this.#owner.opened()
    else this.#owner.failed(message.error)
  }

  #lost(error: Error): void {
    if (this.#isClosing) return
    this.#owner.failed(error)
    for (const { reject } of this.#replies.values()) reject(error)
    this.#replies.clear()
  }
}
