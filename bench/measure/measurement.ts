// One scenario with so many sessions: what each of its phases causes, and how long it takes.
import type { Reconciliation } from './reconcile.ts'
import type { Workers } from '../harness/workers.ts'
import { listBytes, type Task } from '../harness/plan.ts'
import { awaitQuiescence } from './quiescence.ts'
import type { Phase, Scenario } from '../harness/scenario.ts'
import { sum } from './statistics.ts'
import { combined, minus, type Counts, type Traffic } from './frame-counter.ts'

/** What one phase caused, and when what it is about had happened, in ms from its deed. */
export interface PhaseRun {
  /** Undefined where nothing was fenced off: then it is what the counted ones were. */
  counts: Counts | undefined
  /** Of all marks, in their order. */
  marks: number[]
  /** Until all was over. Of a fenced phase the fences are in it. */
  ms: number
  clientCpuMs: number
  /** Undefined where the server is not ours. */
  serverCpuMs: number | undefined
}

/** By the names of the phases. */
export type Step = Record<string, PhaseRun>

/** How much of the time was work. */
export interface Busy {
  /** The busiest thread's share. */
  client: number
  /** The server's processor time over the time that passed; 1 is a whole core. */
  server: number | undefined
  /** All processor time of both; at the number of cores there is no more to be had. */
  machine: number | undefined
}

/** What is measured together. */
export interface Slice {
  steps: Step[]
  busy: Busy
}

export interface Measurement {
  scenario: string
  size: number
  /** Fenced off: just what was caused. */
  counted: Slice[]
  /** At full speed, a slice in each round. */
  timed: Slice[]
  /** What both ends counted while steps were, with fences and pings; undefined where the server does not tell. */
  bothSides?: Reconciliation | undefined
  /** Did the timed steps together move just as many frames as the counted ones had one expect? Undefined where none were, and by chance. */
  asExpected?: boolean
}

export interface Environment {
  workers: Pick<Workers, 'select' | 'expect' | 'act' | 'reached' | 'fence' | 'traffic' | 'marks' | 'busy'>
  directory: string
  serverCpuSeconds: () => number | undefined
}

/** Of lists for those who gather, in each thread. With gigabytes on their way, other sessions would wait too long for their pings. */
const BYTES_AT_ONCE = 30e6
/** A phase that is not fenced is taken for stuck, and fenced, when it takes so many times as long as the step before. */
const PATIENCE = 20
const LEAST_PATIENCE = 1000

/** Runs the steps of a cell and remembers whose turn it is. */
export class ScenarioRun {
  readonly measurement: Measurement
  readonly #scenario: Scenario
  readonly #environment: Environment
  #marked = NaN
  #actor = NaN
  #strayFrames = 0

  constructor(scenario: Scenario, size: number, given: Environment) {
    this.#scenario = scenario
    this.#environment = given
    this.measurement = { scenario: scenario.name, size, counted: [], timed: [] }
  }

  get directory(): string {
    return this.#environment.directory
  }

  get task(): Task {
    return { scenario: this.#scenario, size: this.measurement.size }
  }

  /** How long the last step took, of those that were measured, ms. */
  get lastStepMs(): number | undefined {
    const last = (this.measurement.timed.at(-1) ?? this.measurement.counted.at(-1))?.steps.at(-1)
    return last && sum(Object.values(last).map(({ ms }) => ms))
  }

  async gather(): Promise<void> {
    await this.#environment.workers.select(this.directory)
    const { scenario, size } = this.task
    const atOnce = Math.ceil(BYTES_AT_ONCE / (listBytes(size, scenario.theory.gathering) / size))
    for (const phase of scenario.warmUp) await this.#run(phase, undefined, atOnce)
    // The conductor has its part in the first phase too.
    await awaitQuiescence(this.#environment.workers)
  }

  async count(): Promise<void> {
    this.measurement.counted.push(await this.#slice(async () => [await this.#step(() => undefined)]))
  }

  /** @param isAnotherDue is asked after each step, with how many there were and how long they took, ms */
  async time(isAnotherDue: (done: number, ms: number) => boolean): Promise<void> {
    const { workers } = this.#environment
    const { phases, variesBecause } = this.#scenario
    const framesOf = (phase: string) =>
      variesBecause === undefined ? constantFrames(this.measurement, phase) : undefined
    const expected = new Map(phases.map(({ name }) => [name, framesOf(name)]))
    const before = framesIn(await workers.traffic())
    const slice = await this.#slice(async () => {
      const steps: Step[] = []
      const begun = performance.now()
      do steps.push(await this.#step(phase => expected.get(phase)))
      while (isAnotherDue(steps.length, performance.now() - begun))
      return steps
    })
    this.measurement.timed.push(slice)
    const perStep = [...expected.values()].reduce<number>((sum, frames) => sum + (frames ?? NaN), 0)
    this.#strayFrames += framesIn(await awaitQuiescence(workers)) - before - slice.steps.length * perStep
    if (variesBecause === undefined) this.measurement.asExpected = this.#strayFrames === 0
  }

  async #slice(take: () => Promise<Step[]>): Promise<Slice> {
    const { workers, serverCpuSeconds } = this.#environment
    await workers.select(this.directory)
    await workers.busy()
    const [serverBefore, before, begun] = [serverCpuSeconds(), process.cpuUsage(), performance.now()]
    const steps = await take()
    const ms = performance.now() - begun
    const { user, system } = process.cpuUsage(before)
    const serverMs = differenceOf(serverCpuSeconds(), serverBefore)
    const busy = {
      client: Math.max(...(await workers.busy())),
      server: serverMs === undefined ? undefined : serverMs / ms,
      machine: serverMs === undefined ? undefined : ((user + system) / 1000 + serverMs) / ms,
    }
    return { steps, busy }
  }

  async #step(framesOf: (phase: string) => number | undefined): Promise<Step> {
    const step: Step = {}
    for (const phase of this.#scenario.phases) step[phase.name] = await this.#run(phase, framesOf(phase.name))
    return step
  }

  /** @param frames that it will move; undefined where that is to be found out, by fences */
  async #run(phase: Phase, frames: number | undefined, atOnce = Infinity): Promise<PhaseRun> {
    const { workers, serverCpuSeconds } = this.#environment
    const { size } = this.measurement
    const due = phase.marks(size)
    const traffic = frames === undefined ? await workers.traffic() : undefined
    workers.expect(due, frames)
    const [server, client, started] = [serverCpuSeconds(), process.cpuUsage(), performance.now()]
    const who = { all: 'all', trigger: size, marked: this.#marked, actor: this.#actor } as const
    const begun = await workers.act(phase.action, who[phase.by], atOnce)
    const patience = Math.max(LEAST_PATIENCE, PATIENCE * (this.lastStepMs ?? 0))
    const reached = await workers.reached(frames === undefined ? NO_LIMIT : patience)
    const isFenced = frames === undefined || !reached
    const after = isFenced ? await awaitQuiescence(workers, phase.isolates === true ? 'trigger' : 'all') : undefined
    const ms = performance.now() - started
    const { user, system } = process.cpuUsage(client)
    const serverCpuMs = differenceOf(serverCpuSeconds(), server)
    const marks = await workers.marks()
    if (marks.length !== due)
      throw new Error(
        `${this.measurement.scenario} ${size}, ${phase.name}: it happened to ${marks.length} and should have happened to ${due}`,
      )
    this.#actor = Number(who[phase.by])
    this.#marked = marks.at(-1)?.member ?? this.#marked
    const from = phase.from === 'first' ? (marks[0]?.at ?? begun) : begun
    return {
      counts: traffic && after && countsBetween(traffic, after),
      marks: marks.map(({ at }) => at - from),
      ms,
      clientCpuMs: (user + system) / 1000,
      serverCpuMs,
    }
  }
}

/** What never comes is noticed by the guard of the whole run. */
const NO_LIMIT = 0x7fff_ffff

const countsBetween = (before: Traffic, after: Traffic): Counts =>
  combined(minus(after.work, before.work), minus(after.handshakes, before.handshakes))

const framesIn = ({ work, handshakes }: Traffic): number =>
  work.framesSent + work.framesReceived + handshakes.framesSent + handshakes.framesReceived

/** How many frames a phase moves, where all counted steps agree on that. */
export function constantFrames({ counted }: Measurement, phase: string): number | undefined {
  const [first, ...others] = counted
    .flatMap(({ steps }) => steps)
    .map(step => {
      const counts = step[phase]?.counts
      return counts && counts.framesSent + counts.framesReceived
    })
  return others.every(frames => frames === first) ? first : undefined
}

const differenceOf = (after: number | undefined, before: number | undefined): number | undefined =>
  after === undefined || before === undefined ? undefined : (after - before) * 1000
