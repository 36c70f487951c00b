// This folder turns scenarios into figures: counting frames, recording times, and statistics. This file: one scenario
// with N sessions, the traffic of each of its phases, and their times.
// May import: bench/harness, src/index.ts, src/protocol/index.ts.
import type { Reconciliation } from './reconcile.ts'
import type { Workers } from '../harness/workers.ts'
import { listBytes, type Task } from '../harness/plan.ts'
import { awaitQuiescence } from './quiescence.ts'
import type { Phase, Scenario } from '../harness/scenario.ts'
import { sum } from './statistics.ts'
import { combined, minus, type Counts, type Traffic } from './frame-counter.ts'

/** One execution of a phase. */
export interface PhaseRun {
  /**
   * The traffic of the phase. Undefined for a timed phase, which is not fenced: it causes the same traffic as the
   * counted ones.
   */
  counts: Counts | undefined
  /** Times of the marks in order, ms from the action. Those on the clock of another machine are left out. */
  marks: number[]
  /** Duration of the phase. Includes the fences if it is fenced. */
  ms: number
  clientCpuMs: number
  /** The server's processor time, ms. Undefined if this run did not start the server. */
  serverCpuMs: number | undefined
}

/** One execution of each phase, by name. */
export type Step = Record<string, PhaseRun>

/** Utilizations: 1 is one fully used core. */
export interface Busy {
  /** Utilization of the busiest thread's event loop. */
  client: number
  /** The server's processor time divided by the elapsed time. */
  server: number | undefined
  /** Processor time of both, divided by the elapsed time. The machine is saturated at the number of its cores. */
  machine: number | undefined
}

/** Steps that were measured without a pause. */
export interface Slice {
  steps: Step[]
  busy: Busy
}

export interface Measurement {
  scenario: string
  size: number
  /** Slices with fences, for exact counts. */
  counted: Slice[]
  /** Slices without fences, for times: one in each round. */
  timed: Slice[]
  /**
   * The traffic of the counted steps at both ends, with fences and pings. Undefined if the server reports no counts.
   */
  bothSides?: Reconciliation | undefined
  /**
   * True if the timed steps moved as many frames as expected from the counted ones. Undefined if there are none, or if
   * counts vary.
   */
  asExpected?: boolean
}

export interface Environment {
  workers: Pick<Workers, 'select' | 'expect' | 'act' | 'reached' | 'fence' | 'traffic' | 'marks' | 'busy' | 'cpuMs'>
  directory: string
  serverCpuSeconds: () => number | undefined
}

/**
 * The most bytes of lists in flight in each thread while members gather. With gigabytes in flight, pings of other
 * sessions would be late.
 */
const BYTES_AT_ONCE = 30e6
/**
 * A phase without fences that takes this many times as long as the previous step is considered stuck, and is fenced.
 */
const PATIENCE = 20
const LEAST_PATIENCE = 1000

/** Runs the steps of one scenario with N sessions. */
export class ScenarioRun {
  readonly measurement: Measurement
  readonly #scenario: Scenario
  readonly #environment: Environment
  #marked = NaN
  #actor = NaN
  #strayFrames = 0

  constructor(scenario: Scenario, size: number, environment: Environment) {
    this.#scenario = scenario
    this.#environment = environment
    this.measurement = { scenario: scenario.name, size, counted: [], timed: [] }
  }

  get directory(): string {
    return this.#environment.directory
  }

  get task(): Task {
    return { scenario: this.#scenario, size: this.measurement.size }
  }

  /** Duration of the last measured step, ms. */
  get lastStepMs(): number | undefined {
    const last = (this.measurement.timed.at(-1) ?? this.measurement.counted.at(-1))?.steps.at(-1)
    return last && sum(Object.values(last).map(({ ms }) => ms))
  }

  async gather(): Promise<void> {
    await this.#environment.workers.select(this.directory)
    const { scenario, size } = this.task
    const atOnce = Math.ceil(BYTES_AT_ONCE / (listBytes(size, scenario.theory.gathering) / size))
    for (const phase of scenario.warmUp) await this.#run(phase, undefined, atOnce)
    if (scenario.firstStepDiffers === true) await this.#step(() => undefined)
    // The trigger session acts in the first phase too.
    await awaitQuiescence(this.#environment.workers)
  }

  async count(): Promise<void> {
    this.measurement.counted.push(await this.#slice(async () => [await this.#step(() => undefined)]))
  }

  /** @param isAnotherDue called after each step with the number of steps so far, and the time they took in ms */
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
    const [serverBefore, before, begun] = [serverCpuSeconds(), workers.cpuMs(), performance.now()]
    const steps = await take()
    const ms = performance.now() - begun
    const clientMs = workers.cpuMs() - before
    const serverMs = differenceOf(serverCpuSeconds(), serverBefore)
    const busy = {
      client: Math.max(...(await workers.busy())),
      server: serverMs === undefined ? undefined : serverMs / ms,
      machine: serverMs === undefined ? undefined : (clientMs + serverMs) / ms,
    }
    return { steps, busy }
  }

  async #step(framesOf: (phase: string) => number | undefined): Promise<Step> {
    const step: Step = {}
    for (const phase of this.#scenario.phases) step[phase.name] = await this.#run(phase, framesOf(phase.name))
    return step
  }

  /** @param frames expected number of frames. If undefined, the phase is fenced and its frames are counted. */
  async #run(phase: Phase, frames: number | undefined, atOnce = Infinity): Promise<PhaseRun> {
    const { workers, serverCpuSeconds } = this.#environment
    const { size } = this.measurement
    const due = phase.marks(size)
    const traffic = frames === undefined ? await workers.traffic() : undefined
    workers.expect(due, frames)
    const [server, client, started] = [serverCpuSeconds(), workers.cpuMs(), performance.now()]
    const who = { all: 'all', trigger: size, marked: this.#marked, actor: this.#actor } as const
    await workers.act(phase.action, who[phase.by], atOnce)
    const patience = Math.max(LEAST_PATIENCE, PATIENCE * (this.lastStepMs ?? 0))
    const reached = await workers.reached(frames === undefined ? NO_LIMIT : patience)
    const isFenced = frames === undefined || !reached
    const after = isFenced ? await awaitQuiescence(workers, phase.isolates === true ? 'trigger' : 'all') : undefined
    const ms = performance.now() - started
    const clientCpuMs = workers.cpuMs() - client
    const serverCpuMs = differenceOf(serverCpuSeconds(), server)
    const marks = await workers.marks()
    if (marks.length !== due)
      throw new Error(
        `${this.measurement.scenario} ${size}, ${phase.name}: ${marks.length} of ${due} expected marks were recorded`,
      )
    this.#actor = Number(who[phase.by])
    this.#marked = marks.at(-1)?.member ?? this.#marked
    const from = phase.from === 'first' ? (marks[0]?.at ?? 0) : 0
    return {
      counts: traffic && after && countsBetween(traffic, after),
      marks: marks.map(({ at }) => at - from).filter(ms => !Number.isNaN(ms)),
      ms,
      clientCpuMs,
      serverCpuMs,
    }
  }
}

/**
 * The time limit of a phase, ms: the longest that a timer allows. The run itself aborts if no frame passes for a while.
 */
const NO_LIMIT = 0x7fff_ffff

const countsBetween = (before: Traffic, after: Traffic): Counts =>
  combined(minus(after.work, before.work), minus(after.handshakes, before.handshakes))

const framesIn = ({ work, handshakes }: Traffic): number =>
  work.framesSent + work.framesReceived + handshakes.framesSent + handshakes.framesReceived

/** Returns the number of frames of a phase, or undefined if the counted steps disagree. */
function constantFrames({ counted }: Measurement, phase: string): number | undefined {
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
