// What the steps of a cell come to. Pure.
import type { Busy, Measurement, PhaseRun, Slice, Step } from './measurement.ts'
import { latencyOf, type Latency } from './latency.ts'
import type { Scenario } from '../harness/scenario.ts'
import { mean, median, powerOf, sum, type Power } from './statistics.ts'
import { noCounts, type Counts } from './frame-counter.ts'

export interface Spread {
  median: number
  min: number
  max: number
}
export type Spreads = Record<keyof Counts, Spread>

export interface PhaseSummary {
  phase: string
  counts: { steps: number } & Spreads
  /** Undefined where the phase marks nothing. */
  marks: Marks | undefined
  /** Of the phase as a whole, ms. */
  ms: number
  clientCpuMs: number
  serverCpuMs: number | undefined
}

/** In ms from what set it off. */
export interface Marks {
  /** How many steps they are of. */
  steps: number
  all: Latency
  /** Medians over the steps of each step's first, and last. */
  first: number
  last: number
  /** Marks of a step over the time until its last one; of a phase with one mark, phases that could follow each other. */
  perSecond: number
  /** Medians of all marks, round by round: what drifted. */
  p50ByRound: number[]
}

export interface Summary {
  scenario: string
  size: number
  phases: PhaseSummary[]
  busy: Busy
  /** Undefined where nothing was timed, or by chance. */
  asExpected: boolean | undefined
  /** Did each counted step cause just the same, to the byte? */
  isConstant: boolean
}

export function summaryOf(cell: Measurement): Summary {
  const { scenario, size, counted, timed } = cell
  const slices = timed.length > 0 ? timed : counted
  const steps = counted.flatMap(slice => slice.steps)
  const phases = Object.keys(steps[0] ?? {}).map(name => phaseOf(name, steps, slices))
  const busy = (key: keyof Busy) => mean(slices.map(slice => slice.busy[key] ?? NaN))
  return {
    ...{ scenario, size, phases },
    busy: { client: busy('client'), server: known(busy('server')), machine: known(busy('machine')) },
    asExpected: cell.asExpected,
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

function marksOf(all: readonly PhaseRun[], rounds: PhaseRun[][], interval: number): Marks | undefined {
  const marks = all.flatMap(run => run.marks)
  if (marks.length === 0) return undefined
  const perStep = marks.length / all.length
  const last = median(all.map(run => run.marks.at(-1) ?? NaN))
  return {
    steps: all.length,
    // Where a step marks many, all that were to be told are in it: nobody is left out.
    all: latencyOf(marks, perStep > 1 ? undefined : interval),
    first: median(all.map(run => run.marks[0] ?? NaN)),
    last,
    perSecond: perStep > 1 ? (1000 * perStep) / last : 1000 / median(all.map(({ ms }) => ms)),
    p50ByRound: rounds.map(runs => median(runs.flatMap(run => run.marks))),
  }
}

/** How long a step takes, as a rule: so often one follows the other. */
const medianStep = (steps: readonly Step[]): number =>
  median(steps.map(step => sum(Object.values(step).map(({ ms }) => ms))))

/** What kept it from being faster. */
export type Limit = 'client' | 'server' | 'machine' | 'nothing'

const ALMOST = 0.85

/** @param cores of the machine, where client and server share it */
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
  /** Undefined where there is nothing to fit. */
  notifications: Power | undefined
  /** Received. */
  bytes: Power | undefined
  theory: { notifications: number; bytes: number }
}

/** What does not grow bends the line at small sizes: where there are enough larger ones, they are left out. */
const LARGE = 50

/** The exponents of N in what the phase of the theory causes. */
export function growthOf({ name, theory }: Scenario, summaries: readonly Summary[]): Growth {
  const own = summaries.filter(({ scenario }) => scenario === name)
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
