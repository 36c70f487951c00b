// What the steps of a cell come to. Pure.
import type { Cell, TimedStep, Timing } from './fan-out.ts'
import type { Recipe } from './recipes.ts'
import { exponentOf, median, percentile, sum } from './statistics.ts'
import { noCounts, type Counts } from './tap.ts'

export interface Spread {
  median: number
  min: number
  max: number
}
export type Spreads = Record<keyof Counts, Spread>

export interface Summary {
  recipe: string
  contenders: number
  counted: { steps: number; release: Spreads; join: Spreads }
  /** Undefined where it did not come to that. */
  timed: Timed | undefined
}

export interface Timed {
  steps: number
  handOverMs: { p50: number; p99: number }
  /** Releases that could follow each other in a second, each when everything that the one before caused is over. */
  releasesPerSecond: number
  /** Means: the server's clock ticks too slowly for the single release. */
  clientCpuMsPerRelease: number
  serverCpuMsPerRelease: number | undefined
  /** Of the time that the steps took, how much each side was at work; 1 is a whole core. */
  clientBusy: number
  serverBusy: number | undefined
}

export function summaryOf({ recipe, contenders, counted, timed }: Cell): Summary {
  const spreads = (counts: Counts[]) => mapCounts(key => spreadOf(counts.map(each => each[key])))
  return {
    recipe,
    contenders,
    counted: {
      steps: counted.length,
      release: spreads(counted.map(({ release }) => release)),
      join: spreads(counted.map(({ join }) => join)),
    },
    timed: timed.length === 0 ? undefined : timedOf(timed),
  }
}

function timedOf(steps: readonly TimedStep[]): Timed {
  const handOvers = steps.map(step => step.handOverMs)
  const releases = steps.map(step => step.release)
  const phases = steps.flatMap(({ release, join }) => [release, join])
  const total = (timings: readonly Timing[], of: keyof Timing) => sum(timings.map(timing => timing[of] ?? NaN))
  const wall = total(phases, 'ms')
  return {
    steps: steps.length,
    handOverMs: { p50: percentile(handOvers, 50), p99: percentile(handOvers, 99) },
    releasesPerSecond: (1000 * steps.length) / total(releases, 'ms'),
    clientCpuMsPerRelease: total(releases, 'clientCpuMs') / steps.length,
    serverCpuMsPerRelease: known(total(releases, 'serverCpuMs') / steps.length),
    clientBusy: total(phases, 'clientCpuMs') / wall,
    serverBusy: known(total(phases, 'serverCpuMs') / wall),
  }
}

/**
 * Which side was at work for more of the time, and how much: near a whole core, it is what kept it from being faster.
 */
export function busierOf({ clientBusy, serverBusy = 0 }: Timed): { side: 'client' | 'server'; busy: number } {
  return clientBusy >= serverBusy ? { side: 'client', busy: clientBusy } : { side: 'server', busy: serverBusy }
}

export interface Growth {
  recipe: string
  /** Undefined where there is nothing to fit. */
  notifications: number | undefined
  /** Received. */
  bytes: number | undefined
  theory: Recipe['theory']
}

/** The exponents of N in what a release causes. */
export function growthOf({ name, theory }: Recipe, summaries: readonly Summary[]): Growth {
  const points = (key: keyof Counts) =>
    summaries
      .filter(({ recipe }) => recipe === name)
      .map(({ contenders, counted }) => ({ x: contenders, y: counted.release[key].median }))
  return {
    recipe: name,
    notifications: exponentOf(points('notifications')),
    bytes: exponentOf(points('bytesReceived')),
    theory,
  }
}

const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
})

const mapCounts = <T>(of: (key: keyof Counts) => T): Record<keyof Counts, T> =>
  Object.fromEntries(Object.keys(noCounts()).map(key => [key, of(key as keyof Counts)])) as Record<keyof Counts, T>

const known = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value)
