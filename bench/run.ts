// A whole run on one server: sessions, directories, one task after the other, and nothing left of them.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../src/index.ts'
import { FanOut, type Cell } from './fan-out.ts'
import type { Options } from './options.ts'
import { shareOf, tasksOf, type Task } from './plan.ts'
import type { Progress } from './progress.ts'
import type { Recipe } from './recipes.ts'
import type { Server } from './server.ts'
import { Sessions, SESSION_TIMEOUT } from './sessions.ts'
import { Meter } from './tap.ts'

/** How far over its time a run goes for the least that each figure needs. */
const OVERTIME = 1.25
/** What is measured once for nothing, and for how long at most. */
const REHEARSAL = { contenders: 10, share: 0.03, most: 2000 }
/** What is left of an ended run is not waited for longer: there may be no server any more. */
const LAST_PATIENCE = 10_000
/** Without a single frame for so long, somebody sleeps who should have been woken. */
const STALL = 60_000

export class Run {
  readonly #options: Pick<Options, 'contenders' | 'recipes' | 'seconds'>
  readonly #server: Server
  readonly #progress: Progress
  readonly #stop: AbortController
  /** The one node that all others are below; and what fences ask for. */
  readonly #root = `/zkwire-bench-${randomUUID().slice(0, 8)}`
  readonly meter = new Meter(this.#root)
  readonly #sessions: Sessions
  /** What has been measured so far, the last one perhaps in part. */
  readonly cells: Cell[] = []

  /** @param stop ends the run; the run uses it too, where it fails */
  constructor(
    options: Pick<Options, 'contenders' | 'recipes' | 'seconds'>,
    server: Server,
    progress: Progress,
    stop: AbortController,
  ) {
    this.#options = options
    this.#server = server
    this.#progress = progress
    this.#stop = stop
    this.#sessions = new Sessions(server.servers, this.meter, this.#fail)
  }

  /** Rejects with the reason of `stop`. Nothing is left behind then either, as far as a server can be reached. */
  async measure(): Promise<void> {
    const { signal } = this.#stop
    signal.throwIfAborted()
    const guard = this.#guardAgainstStalls()
    let admin: Client | undefined
    try {
      admin = await connect(this.#server.servers, { sessionTimeout: SESSION_TIMEOUT, signal })
      await Promise.race([this.#measureAll(admin), rejection(signal)])
    } finally {
      clearInterval(guard)
      this.#progress.clear()
      await this.#cleanUp(admin)
    }
  }

  readonly #fail = (error: unknown): void => this.#stop.abort(error)

  async #measureAll(admin: Client): Promise<void> {
    const { contenders, recipes, seconds } = this.#options
    const time = seconds * 1000
    const begun = performance.now()
    const [ends, atLast] = [begun + time, begun + time * OVERTIME]
    this.#progress.endsAt(ends)
    await admin.create(this.#root)
    // Who came first would pay for what V8 and the JVM have yet to compile.
    const rehearsal = Math.min(time * REHEARSAL.share, REHEARSAL.most)
    for (const task of tasksOf(recipes, [Math.min(REHEARSAL.contenders, ...contenders)]))
      await this.#measureOne(admin, cellOf(task), task.recipe, performance.now() + rehearsal, atLast)

    const tasks = tasksOf(recipes, contenders)
    for (const [i, task] of tasks.entries()) {
      const now = performance.now()
      if (now > atLast) return
      const cell = cellOf(task)
      this.cells.push(cell)
      await this.#measureOne(admin, cell, task.recipe, now + shareOf(tasks.slice(i), ends - now), atLast)
    }
  }

  async #measureOne(admin: Client, cell: Cell, recipe: Recipe, ends: number, atLast: number): Promise<void> {
    const { signal } = this.#stop
    const say = (what: string) => this.#progress.say(`${cell.recipe}, ${cell.contenders} contenders: ${what}`)
    const begins = performance.now()
    const sessions = await this.#sessions.take(cell.contenders, signal, open => say(`${open} sessions open`))
    const directory = `${this.#root}/${cell.recipe}-${cell.contenders}`
    await admin.create(directory)
    const fanOut = new FanOut({
      ...{ recipe, sessions, directory, begins, ends, atLast, signal },
      meter: this.meter,
      fencePath: this.#root,
      serverCpuSeconds: this.#server.cpuSeconds,
      onFailure: this.#fail,
      onProgress: say,
    })
    await fanOut.measure(cell)
    await admin.deleteRecursive(directory)
  }

  #guardAgainstStalls(): NodeJS.Timeout {
    const passed = () => this.meter.frames + this.meter.fences.framesReceived + this.meter.handshakes.framesReceived
    let [seen, since] = [passed(), performance.now()]
    const look = () => {
      if (passed() !== seen) [seen, since] = [passed(), performance.now()]
      else if (performance.now() - since > STALL)
        this.#fail(
          new Error(`nothing has happened for ${STALL / 1000} s: a waiter was not woken, or the server stands still`),
        )
    }
    return setInterval(look, STALL / 10)
  }

  async #cleanUp(admin: Client | undefined): Promise<void> {
    const isOver = this.#stop.signal.aborted
    // Ctrl-C reaches a server of ours too, and what was on it goes with it.
    if (isOver && this.#server.isOurs) return
    const clean = async () => {
      await this.#sessions.close()
      await admin?.deleteRecursive(this.#root)
      await admin?.close()
    }
    await (isOver ? Promise.race([clean().catch(() => undefined), delay(LAST_PATIENCE)]) : clean())
  }
}

const cellOf = ({ recipe, contenders }: Task<Recipe>): Cell => ({
  recipe: recipe.name,
  contenders,
  counted: [],
  timed: [],
})

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
