// A whole run on one server: sessions, directories, one stage after the other, and nothing left of them.
import { randomUUID } from 'node:crypto'
import { connect, type Client } from '../../src/index.ts'
import { Rehearsed, type Cell } from '../measure/measurement.ts'
import { Crew } from './workers.ts'
import { watchBothSides, type Sides } from '../measure/reconcile.ts'
import { refuseWithoutDescriptors } from './descriptors.ts'
import { Foresight, type Deed } from './estimator.ts'
import type { Options } from '../options.ts'
import { affordable, peakOf, seeded, shareOf, shuffled, stagesOf, tasksOf, type Stage, type Task } from './plan.ts'
import type { Progress } from '../output/progress.ts'
import type { Scenario } from './scenario.ts'
import type { Server } from './server.ts'
import { SESSION_TIMEOUT } from './sessions.ts'
import { sum } from '../measure/statistics.ts'
import { Meter, noTraffic, together, type Traffic } from '../measure/frame-counter.ts'

export type RunOptions = Pick<Options, 'sizes' | 'scenarios' | 'seconds' | 'seed' | 'threads' | 'all'> & {
  /** What is not foretold to be over when so many times `seconds` have passed is left out. Default 1.1. */
  overtime?: number
}

/** How far over its time a run goes for the least that each figure needs. */
const OVERTIME = 1.1
const ROUNDS = 5
const COUNTED = { least: 2, most: 10, share: 0.25 }
/** What is kept free for a size: to count them twice and to time them once. */
const LEAST_STEPS = 3
const TIMED = { most: 400 }
/** Who came first would pay for what V8 and the JVM have yet to compile: so it is all done once for nothing. */
const REHEARSAL = { size: 10, steps: 20, share: 0.04, most: 2000 }
/** What is left of an ended run is not waited for longer: there may be no server any more. */
const LAST_PATIENCE = 10_000
/** Without a single frame for so long, somebody sleeps who should have been woken. */
const STALL = 60_000

export class Run {
  readonly #options: RunOptions
  readonly #server: Server
  readonly #progress: Progress
  readonly #stop: AbortController
  /** The one node that all others are below; and what fences ask for. */
  readonly #root = `/zkwire-bench-${randomUUID().slice(0, 8)}`
  readonly #random: () => number
  readonly #stages: readonly Stage[]
  readonly #foresight = new Foresight()
  /** What passes for the furnishing of directories, which is nobody's work. */
  readonly #furnishing = new Meter(this.#root, { framePassed: () => undefined, alive: () => undefined })
  #crew: Crew | undefined
  #directories = 0
  #opened = 0
  /** What has been measured so far, the last ones perhaps in part. */
  readonly cells: Cell[] = []
  /** All that passed, the figures' and the rest. */
  traffic: Traffic = noTraffic()

  /** @param stop ends the run; the run uses it too, where it fails */
  constructor(options: RunOptions, server: Server, progress: Progress, stop: AbortController) {
    this.#options = options
    this.#server = server
    this.#progress = progress
    this.#stop = stop
    this.#random = seeded(options.seed)
    this.#stages = stagesOf(options.scenarios, options.sizes, options.all ? Infinity : undefined)
  }

  /** Rejects with the reason of `stop`. Nothing is left behind then either, as far as a server can be reached. */
  async measure(): Promise<void> {
    const { signal } = this.#stop
    const { threads } = this.#options
    signal.throwIfAborted()
    refuseWithoutDescriptors(peakOf(this.#stages), threads, this.#server.pid)
    let admin: Client | undefined
    let guard: NodeJS.Timeout | undefined
    try {
      const onFrame = this.#furnishing.tap()
      admin = await connect(this.#server.servers, { sessionTimeout: SESSION_TIMEOUT, signal, onFrame })
      await admin.create(this.#root)
      const crew = new Crew(threads, this.#server.servers, this.#root, {
        failed: error => this.#stop.abort(error),
        opened: () => this.#progress.say(`${++this.#opened} sessions opened`),
      })
      this.#crew = crew
      guard = this.#guardAgainstStalls(crew)
      await Promise.race([this.#measureAll(crew, admin), rejection(signal)])
      this.traffic = await crew.traffic()
    } finally {
      clearInterval(guard)
      this.#progress.clear()
      await this.#cleanUp(admin)
    }
  }

  async #measureAll(crew: Crew, admin: Client): Promise<void> {
    const { sizes, seconds, overtime = OVERTIME } = this.#options
    const time = seconds * 1000
    const begun = performance.now()
    this.#progress.endsAt(begun + time)
    await this.#rehearse(
      crew,
      admin,
      Math.min(REHEARSAL.size, ...sizes),
      begun + Math.min(REHEARSAL.most, REHEARSAL.share * time),
    )
    for (const [i, all] of this.#stages.entries()) {
      const now = performance.now()
      const toEnd = this.#foresight.ofTheEnd(all.size)
      // Of the first nothing is left out: a result without any figure is none.
      const atLast = i === 0 ? Infinity : begun + time * overtime - toEnd
      const once = (task: Task) => this.#foresight.ofAll(task, 1)
      const stage = affordable(all, atLast - now - this.#foresight.ofOpening(all.size), once)
      const stages = [stage, ...this.#stages.slice(i + 1)]
      const share = shareOf(stages, begun + time - toEnd - now, each => this.#leastFor(each))
      await this.#measureStage(crew, admin, stage, now + share, atLast)
    }
  }

  #leastFor(stage: Stage): number {
    const all = tasksOf(stage).map(task => this.#foresight.ofAll(task, LEAST_STEPS))
    return all.length === 0 ? 0 : sum([this.#foresight.ofOpening(stage.size), ...all])
  }

  async #rehearse(crew: Crew, admin: Client, size: number, until: number): Promise<void> {
    const { scenarios } = this.#options
    const together = scenarios.filter(({ ownSessions }) => ownSessions === undefined)
    await crew.open(size + 1)
    for (const scenario of together) {
      const rehearsed = await this.#assemble(crew, admin, scenario, size)
      this.#say(rehearsed, 'rehearsing')
      const isTime = () => performance.now() < until
      for (let i = 0; i < REHEARSAL.steps && (i === 0 || isTime()); i++) await rehearsed.count()
      await rehearsed.time(done => done < REHEARSAL.steps && isTime())
      await this.#disband(crew, admin, rehearsed)
    }
  }

  /** Until `ends`, and for the least that a figure needs until `atLast`. */
  async #measureStage(crew: Crew, admin: Client, stage: Stage, ends: number, atLast: number): Promise<void> {
    const { size, together, alone } = stage
    const leastFor = (scenarios: readonly Scenario[]) => this.#leastFor({ size, together: [], alone: [...scenarios] })
    const share = leastFor(alone) / (leastFor(together) + leastFor(alone))
    const shared = ends - share * (ends - performance.now())
    if (together.length > 0) {
      await crew.open(size + 1)
      const all: Rehearsed[] = []
      for (const scenario of together)
        if (this.#foresight.ofAll({ scenario, size }, 1) < atLast - performance.now())
          all.push(await this.#begin(crew, admin, scenario, size))
      await this.#measureInTurns(all, crew, shared, atLast)
      for (const rehearsed of all) await this.#disband(crew, admin, rehearsed)
    }
    for (const [i, scenario] of alone.entries()) {
      const now = performance.now()
      if (this.#foresight.ofAll({ scenario, size }, 1) > atLast - now) continue
      const rehearsed = await this.#begin(crew, admin, scenario, size)
      await this.#measureInTurns([rehearsed], crew, now + (ends - now) / (alone.length - i), atLast)
      await this.#disband(crew, admin, rehearsed)
    }
  }

  async #begin(crew: Crew, admin: Client, scenario: Scenario, size: number): Promise<Rehearsed> {
    const rehearsed = await this.#assemble(crew, admin, scenario, size)
    this.cells.push(rehearsed.cell)
    return rehearsed
  }

  /** Each in each round, in another order each time: what drifts, drifts for all of them. */
  async #measureInTurns(all: readonly Rehearsed[], crew: Crew, ends: number, atLast: number): Promise<void> {
    const begins = performance.now()
    const counting = (ends - begins) * COUNTED.share
    const fits = ({ task, lastStep }: Rehearsed, until: number) =>
      performance.now() + (lastStep ?? this.#foresight.of('step', task)) < until
    for (const [i, rehearsed] of shuffled(all, this.#random).entries()) {
      const until = begins + (counting * (i + 1)) / all.length
      this.#say(rehearsed, 'counting')
      const bothSides = await watchBothSides(this.#sidesOf(crew))
      for (let done = 0; done < COUNTED.most; done++) {
        if (done > 0 && !fits(rehearsed, done < COUNTED.least ? ends : until)) break
        this.#stop.signal.throwIfAborted()
        await this.#took('step', rehearsed.task, () => rehearsed.count())
      }
      rehearsed.cell.bothSides = await bothSides()
    }
    const fast = all.filter(({ task }) => task.scenario.isSlow !== true)
    for (let round = 0; round < ROUNDS; round++)
      for (const [i, rehearsed] of shuffled(fast, this.#random).entries()) {
        this.#stop.signal.throwIfAborted()
        // Once is the least.
        if (!fits(rehearsed, round === 0 ? atLast : ends)) continue
        const now = performance.now()
        const slices = (ROUNDS - round) * fast.length - i
        const until = now + (ends - now) / slices
        this.#say(rehearsed, `round ${round + 1} of ${ROUNDS}`)
        const isAnotherDue = (done: number, ms: number) =>
          done < TIMED.most && performance.now() + ms / done < until && !this.#stop.signal.aborted
        await rehearsed.time(isAnotherDue)
      }
  }

  #sidesOf(crew: Crew): Sides {
    return {
      clients: async () => together([await crew.traffic(), this.#furnishing.traffic]),
      server: () => this.#server.passed(),
    }
  }

  async #took(deed: Deed, task: Task, act: () => Promise<void>): Promise<void> {
    const begun = performance.now()
    await act()
    this.#foresight.took(deed, task, performance.now() - begun)
  }

  #say({ cell }: Rehearsed, what: string): void {
    this.#progress.say(`${cell.scenario}, ${cell.size} sessions: ${what}`)
  }

  async #assemble(crew: Crew, admin: Client, scenario: Scenario, size: number): Promise<Rehearsed> {
    // Of one length for all, since it is in the counts.
    const directory = `${this.#root}/${String(++this.#directories).padStart(4, '0')}`
    await admin.create(directory)
    await scenario.furnish?.(admin, directory)
    const { cpuSeconds: serverCpuSeconds } = this.#server
    const rehearsed = new Rehearsed(scenario, size, { crew, directory, serverCpuSeconds })
    this.#say(rehearsed, 'gathering')
    await this.#took('gather', rehearsed.task, async () => {
      await crew.assemble(scenario, directory, size)
      await rehearsed.gather()
    })
    return rehearsed
  }

  async #disband(crew: Crew, admin: Client, rehearsed: Rehearsed): Promise<void> {
    this.#say(rehearsed, 'leaving')
    await this.#took('leave', rehearsed.task, async () => {
      await crew.disband(rehearsed.directory)
      await admin.deleteRecursive(rehearsed.directory)
    })
  }

  #guardAgainstStalls(crew: Crew): NodeJS.Timeout {
    let [seen, since] = [crew.pulse + this.#opened, performance.now()]
    const look = () => {
      const pulse = crew.pulse + this.#opened
      if (pulse !== seen) [seen, since] = [pulse, performance.now()]
      else if (performance.now() - since > STALL)
        this.#stop.abort(
          new Error(`nothing has happened for ${STALL / 1000} s: a waiter was not woken, or the server stands still`),
        )
    }
    return setInterval(look, STALL / 10)
  }

  async #cleanUp(admin: Client | undefined): Promise<void> {
    const isOver = this.#stop.signal.aborted
    await this.#crew?.close(isOver ? LAST_PATIENCE : 6 * LAST_PATIENCE)
    if (admin === undefined) return
    const clean = async () => {
      await admin.deleteRecursive(this.#root)
      await admin.close()
    }
    if (!isOver) return clean()
    let timer: NodeJS.Timeout | undefined
    await Promise.race([
      clean().catch(() => undefined),
      new Promise(resolve => (timer = setTimeout(resolve, LAST_PATIENCE))),
    ])
    clearTimeout(timer)
  }
}

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
