// The main thread's interface to the worker threads.
import { Worker } from 'node:worker_threads'
import { progressMemory, ProgressCounters } from './progress-counters.ts'
import type { Scenario } from './scenario.ts'
import type { Assignment, Commands, Mark, Notice, CommandMessage, Reply, WorkerData } from './worker.ts'
import { totalTraffic, type Traffic } from '../measure/frame-counter.ts'

export interface WorkersOwner {
  failed(error: Error): void
  opened(): void
}

/** Registers tsx in the worker, because tsx loads TypeScript only in threads that have registered it. */
const boot = (module: string) =>
  `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`

export class Workers {
  readonly #workers: readonly Worker[]
  readonly #progress: ProgressCounters
  readonly #replies = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>()
  readonly #owner: WorkersOwner
  #lastId = 0
  #onReached: () => void = () => undefined
  #isClosing = false

  constructor(threads: number, servers: string, fencePath: string, owner: WorkersOwner) {
    this.#owner = owner
    const memory = progressMemory()
    this.#progress = new ProgressCounters(memory, () => undefined)
    const workerData: WorkerData = { servers, fencePath, progress: memory, epoch: process.hrtime.bigint() }
    const thread = boot(new URL('worker.ts', import.meta.url).href)
    this.#workers = Array.from({ length: threads }, () => {
      const worker = new Worker(thread, { eval: true, workerData })
      worker.on('message', (message: Notice | Reply) => this.#onMessage(message))
      worker.on('error', error => this.#onWorkerLost(error))
      worker.on('exit', () => this.#onWorkerLost(new Error('a worker thread has exited')))
      return worker
    })
  }

  get count(): number {
    return this.#workers.length
  }

  /** Increases with every frame. */
  get activity(): number {
    return this.#progress.activity
  }

  async open(sessions: number): Promise<void> {
    await Promise.all(this.#workers.map((worker, i) => this.#send(worker, 'open', this.#membersOf(sessions, i).length)))
  }

  /** Distributes the members over the threads in turn. The trigger session is the last one. */
  async assemble({ name, hasTrigger, sessions = Infinity }: Scenario, directory: string, size: number): Promise<void> {
    const maxSessions = Math.ceil(sessions / this.count)
    const assign = (worker: Worker, i: number) => {
      const members = this.#membersOf(hasTrigger === true ? size + 1 : size, i)
      const assignment = { scenario: name, directory, size, members, sessions: Math.min(members.length, maxSessions) }
      return this.#send(worker, 'assemble', assignment satisfies Assignment)
    }
    await Promise.all(this.#workers.map(assign))
  }

  async select(directory: string): Promise<void> {
    await this.#sendAll('select', directory)
  }

  /**
   * @param atOnce number of members that act at once in each thread. The next ones act when the server has replied to
   * these.
   * @returns the time at which the first member acted
   */
  async act(action: string, who: number | 'all', atOnce = Infinity): Promise<number> {
    if (who === 'all') return Math.min(...(await this.#sendAll('act', action, 'all', atOnce)).map(at => at ?? Infinity))
    const worker = this.#workers[who % this.count]
    return (worker && (await this.#send(worker, 'act', action, who, atOnce))) ?? NaN
  }

  async fence(which: 'all' | 'trigger'): Promise<void> {
    await this.#sendAll('fence', which)
  }

  async traffic(): Promise<Traffic> {
    return totalTraffic(await this.#sendAll('traffic'))
  }

  /** Returns the marks of all threads, sorted by time. */
  async marks(): Promise<Mark[]> {
    return (await this.#sendAll('marks')).flat().sort((a, b) => a.at - b.at)
  }

  async busy(): Promise<number[]> {
    return this.#sendAll('busy')
  }

  async tearDown(directory: string): Promise<void> {
    await this.#sendAll('tearDown', directory)
  }

  /** Sets the numbers of marks and frames that a phase will cause. Call it only while no frame is in flight. */
  expect(marks: number, frames: number | undefined): void {
    this.#progress.set(marks, frames)
  }

  /**
   * Resolves with true when all expected marks and frames have passed, or with false after `patience` ms. Not
   * reentrant.
   */
  reached(patience: number): Promise<boolean> {
    return new Promise(resolve => {
      const settle = (reached: boolean) => {
        clearTimeout(timer)
        this.#onReached = () => undefined
        resolve(reached)
      }
      const timer = setTimeout(() => settle(this.#progress.isReached), patience)
      this.#onReached = () => {
        if (this.#progress.isReached) settle(true)
      }
      this.#onReached()
    })
  }

  /** Closes all sessions, and terminates the threads after `patience` ms at the latest. */
  async close(patience: number): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    const closed = Promise.allSettled(this.#workers.map(worker => this.#send(worker, 'close')))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([closed, new Promise(resolve => (timer = setTimeout(resolve, patience)))])
    clearTimeout(timer)
    await Promise.all(this.#workers.map(worker => worker.terminate()))
  }

  /** Returns the indexes of a thread's members. */
  #membersOf(size: number, thread: number): number[] {
    return Array.from({ length: size }, (_, i) => i).filter(i => i % this.count === thread)
  }

  #sendAll<D extends keyof Commands>(
    command: D,
    ...args: Parameters<Commands[D]>
  ): Promise<Awaited<ReturnType<Commands[D]>>[]> {
    return Promise.all(this.#workers.map(worker => this.#send(worker, command, ...args)))
  }

  #send<D extends keyof Commands>(
    worker: Worker,
    command: D,
    ...args: Parameters<Commands[D]>
  ): Promise<Awaited<ReturnType<Commands[D]>>> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#replies.set(id, { resolve, reject })
      worker.postMessage({ id, command, args } satisfies CommandMessage)
    })
  }

  #onMessage(message: Notice | Reply): void {
    if ('id' in message) {
      const reply = this.#replies.get(message.id)
      this.#replies.delete(message.id)
      if ('error' in message) reply?.reject(message.error)
      else reply?.resolve(message.value as never)
    } else if (message.is === 'reached') this.#onReached()
    else if (message.is === 'opened') this.#owner.opened()
    else this.#owner.failed(message.error)
  }

  #onWorkerLost(error: Error): void {
    if (this.#isClosing) return
    this.#owner.failed(error)
    for (const { reject } of this.#replies.values()) reject(error)
    this.#replies.clear()
  }
}
