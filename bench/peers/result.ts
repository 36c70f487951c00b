// The result of `npm run bench -- peers`, as JSON.
import { median, powerOf, type Power } from '../measure/statistics.ts'
import type { Recording } from '../measure/recording.ts'
import { PEERS, readHeader, type Header, type Machine } from '../output/result.ts'
import type { PhaseCost, RoundTrips, Step } from './contest.ts'
import type { LibraryName } from './libraries.ts'
import type { Remains } from './remains.ts'
import type { Tally } from './tally.ts'

/** Incremented when the format changes incompatibly. */
export const PEERS_FORMAT = 2

interface PhaseFigures {
  /** The counts of a phase. If they differ between the steps, those of the step with the median of the bytes read. */
  tally: Tally
  /** Medians and means of all steps, ms. */
  ms: number
  clientCpuMs: number
  serverCpuMs: number
}

export interface Cell {
  recipe: string
  size: number
  steps: number
  /** True if all steps caused the same traffic, to the byte. */
  isConstant: boolean
  phases: Record<keyof Step, PhaseFigures>
}

export interface PeersGrowth {
  recipe: string
  phase: keyof Step
  sizes: number[]
  notifications: Power | undefined
  bytes: Power | undefined
}

export interface RecipeResult {
  id: string
  name: string
  about: string
  /** Why it was not measured. Undefined if it was. */
  failure?: string | undefined
}

export interface PeersResult {
  format: number
  what: typeof PEERS
  date: string
  commandLine: string
  /** 'complete', or the reason why the run ended early. */
  ended: string
  seconds: number
  seed: number
  machine: Machine
  server: { version: string }
  libraries: {
    name: LibraryName
    version?: string | undefined
    /** Why the library could not be had. Undefined if it was measured. */
    missing?: string | undefined
    recipes: RecipeResult[]
  }[]
  cells: Cell[]
  growth: PeersGrowth[]
  /** One release of each recipe, with delayed frames and some contenders. */
  recordings: Recording[]
  /** Of one release with delayed frames, for each recipe and size. */
  roundTrips: (RoundTrips & { recipe: string; size: number })[]
  remains: (Remains & { recipe: string })[]
  /** The watches at the server after the sessions of all contenders were closed, or had expired. */
  watchesAtEnd: number
}

export function cellOf(recipe: string, size: number, steps: readonly Step[]): Cell {
  const texts = new Set(steps.map(({ release, join }) => JSON.stringify([release.tally, join.tally])))
  const figures = (phase: keyof Step) => figuresOf(steps.map(step => step[phase]))
  return {
    ...{ recipe, size, steps: steps.length, isConstant: texts.size === 1 },
    phases: { release: figures('release'), join: figures('join') },
  }
}

function figuresOf(costs: readonly PhaseCost[]): PhaseFigures {
  const byBytes = costs.map(({ tally }) => tally).sort((a, b) => a.bytesReceived - b.bytesReceived)
  const tally = byBytes[Math.floor(byBytes.length / 2)]
  if (tally === undefined) throw new Error('a cell needs a step')
  const middle = (of: (cost: PhaseCost) => number) => round(median(costs.map(of)))
  return {
    tally,
    ms: middle(({ ms }) => ms),
    clientCpuMs: middle(each => each.clientCpuMs),
    serverCpuMs: middle(each => each.serverCpuMs),
  }
}

const round = (value: number): number => Number(value.toPrecision(3))

/** Returns the counts of the smallest size, which are the same in every run with the same libraries. */
export const talliesOf = ({ cells }: Pick<PeersResult, 'cells'>) => {
  const least = Math.min(...cells.map(({ size }) => size))
  return cells
    .filter(({ size }) => size === least)
    .map(({ recipe, phases }) => ({ recipe, release: phases.release.tally, join: phases.join.tally }))
    .sort((a, b) => (a.recipe < b.recipe ? -1 : 1))
}

/** Returns the round trips of a release, or undefined if they were not counted. */
export const roundTripsAt = ({ roundTrips }: Pick<PeersResult, 'roundTrips'>, recipe: string, size: number) =>
  roundTrips.find(each => each.recipe === recipe && each.size === size)

/** Smaller sizes are left out of the fit, because constant costs bend the line there. */
const LARGE = 10

export function growthOf(recipe: string, phase: keyof Step, cells: readonly Cell[]): PeersGrowth {
  const own = cells.filter(cell => cell.recipe === recipe && cell.size >= LARGE).sort((a, b) => a.size - b.size)
  const fit = (key: 'notifications' | 'bytesReceived') =>
    powerOf(own.map(({ size, phases }) => ({ x: size, y: phases[phase].tally[key] })))
  return {
    ...{ recipe, phase, sizes: own.map(({ size }) => size) },
    notifications: fit('notifications'),
    bytes: fit('bytesReceived'),
  }
}

/** @throws Error that names the file, if it is missing or holds no result of this format */
export const readPeersResult = async (file: string): Promise<PeersResult> => asPeersResult(file, await readHeader(file))

/** @throws Error that names the file, if it holds no result of this format */
export function asPeersResult(file: string, result: Header): PeersResult {
  if (result.what !== PEERS) throw new Error(`${file} is not a result of npm run bench -- peers`)
  if (result.format !== PEERS_FORMAT) throw new Error(`${file} is a result of another version`)
  return result as PeersResult
}
