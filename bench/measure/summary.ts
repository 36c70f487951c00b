// Summarizes the steps of a measurement. Pure.
import type { Busy, Measurement, PhaseRun, Slice, Step } from './measurement.ts'
import { latencyOf, type Latency } from './latency.ts'
import type { Scenario } from '../harness/scenario.ts'
import { mean, median, powerOf, sum, type Power } from './statistics.ts'
import { noCounts, type Counts } from './frame-counter.ts'

interface Spread {
  median: number
  min: number
  max: number
}
type Spreads = Record<keyof Counts, Spread>

export interface PhaseSummary {
  phase: string
  counts: { steps: number } & Spreads
  /** The times of the marks. Undefined if the phase has no marks. */
  marks: Marks | undefined
  /** Duration of the whole phase, ms. */
  ms: number
  clientCpuMs: number
  serverCpuMs: number | undefined
}

/** Times in ms from the action. */
interface Marks {
  /** The number of steps. */
  steps: number
  all: Latency
  /** Median of each step's first mark. */
  first: number
  /** Median of each step's last mark. */
  last: number
  /**
   * The marks of a step divided by the time until its last one. For steps with one mark, the number of phases that
   * could run in a second.
   */
  perSecond: number
  /** The median of the marks of each round. It shows drift. */
  p50ByRound: number[]
}

export interface Summary {
  scenario: string
  size: number
  phases: PhaseSummary[]
  busy: Busy
  /** Undefined if nothing was timed, or if counts vary. */
  asExpected: boolean | undefined
  /** True if all counted steps caused the same traffic, to the byte. */
  isConstant: boolean
}

export function summaryOf(measurement: Measurement): Summary {
  const { scenario, size, counted, timed } = measurement
  const slices = timed.length > 0 ? timed : counted
  const steps = counted.flatMap(slice => slice.steps)
  const phases = Object.keys(steps[0] ?? {}).map(name => phaseOf(name, steps, slices))
  const busy = (key: keyof Busy) => mean(slices.map(slice => slice.busy[key] ?? NaN))
  return {
    ...{ scenario, size, phases },
    busy: { client: busy('client'), server: known(busy('server')), machine: known(busy('machine')) },
    asExpected: measurement.asExpected,
    isConstant: phases.every(({ counts }) => keys.every(key => counts[key].min === counts[key].max)),
  }
}

const keys = Object.keys(noCounts()) as (keyof Counts)[]

function phaseOf(phase: string, counted: readonly Step[], slices: readonly Slice[]): PhaseSummary {
  const runs = (steps: readonly Step[]) => steps.flatMap(step => step[phase] ?? [])
  const counts = runs(counted).flatMap(run => run.counts ?? [])
  const rounds = slices.map(({ steps }) => steps)
  const all = rounds.flatMap(runs)
  return {
    phase,
    counts: { steps: counts.length, ...mapCounts(key => spreadOf(counts.map(each => each[key]))) },
    marks: marksOf(all, rounds.map(runs), medianStep(rounds.flat())),
    ms: median(all.map(({ ms }) => ms)),
    clientCpuMs: mean(all.map(run => run.clientCpuMs)),
    serverCpuMs: known(mean(all.map(run => run.serverCpuMs ?? NaN))),
  }
}

function marksOf(runs: readonly PhaseRun[], rounds: PhaseRun[][], interval: number): Marks | undefined {
  // With several machines, a phase whose marks are all on another clock has none.
  const all = runs.filter(({ marks }) => marks.length > 0)
  const marks = all.flatMap(run => run.marks)
  if (marks.length === 0) return undefined
  const perStep = marks.length / all.length
  const last = median(all.map(run => run.marks.at(-1) ?? NaN))
  return {
    steps: all.length,
    // A step with several marks records all its sessions, so stalls hide no latency.
    all: latencyOf(marks, perStep > 1 ? undefined : interval),
    first: median(all.map(run => run.marks[0] ?? NaN)),
    last,
    perSecond: perStep > 1 ? (1000 * perStep) / last : 1000 / median(all.map(({ ms }) => ms)),
    p50ByRound: rounds.map(runs => median(runs.flatMap(run => run.marks))),
  }
}

/** Returns the median duration of a step, which is the interval between two steps. */
const medianStep = (steps: readonly Step[]): number =>
  median(steps.map(step => sum(Object.values(step).map(({ ms }) => ms))))

/** The bottleneck. */
export type Limit = 'client' | 'server' | 'machine' | 'nothing'

const ALMOST = 0.85

/** @param cores number of cores of the machine that client and server share */
export function limitOf({ client, server = 0, machine = 0 }: Busy, cores: number): Limit {
  if (machine > ALMOST * cores) return 'machine'
  if (server > ALMOST) return 'server'
  return client > ALMOST ? 'client' : 'nothing'
}

export interface Growth {
  scenario: string
  phase: string
  /** The sizes that were fitted. */
  sizes: number[]
  /** The fit of the notifications. Undefined if the values cannot be fitted. */
  notifications: Power | undefined
  /** The fit of the received bytes. Undefined if the values cannot be fitted. */
  bytes: Power | undefined
  theory: { notifications: number; bytes: number }
}

/** Smaller sizes are left out of the fit if two larger ones exist, because constant costs bend the line there. */
const LARGE = 50

/** Fits the exponents of N for the phase of the theory. */
export function growthOf({ name, theory }: Scenario, summaries: readonly Summary[]): Growth {
  const own = summaries.filter(({ scenario }) => scenario === name).sort((a, b) => a.size - b.size)
  const large = own.filter(({ size }) => size >= LARGE)
  const fitted = large.length > 1 ? large : own
  const points = (key: keyof Counts) =>
    fitted.map(({ size, phases }) => ({
      x: size,
      y: phases.find(({ phase }) => phase === theory.phase)?.counts[key].median ?? NaN,
    }))
  return {
    scenario: name,
    phase: theory.phase,
    sizes: fitted.map(({ size }) => size),
    notifications: powerOf(points('notifications')),
    bytes: powerOf(points('bytesReceived')),
    theory: { notifications: theory.notifications, bytes: theory.bytes },
  }
}

const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
})

const mapCounts = <T>(of: (key: keyof Counts) => T): Record<keyof Counts, T> =>
  Object.fromEntries(keys.map(key => [key, of(key)])) as Record<keyof Counts, T>

const known = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value)
