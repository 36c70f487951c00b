// The result of `npm run bench -- services`, as JSON and as CSV. Pure.
import { median, powerOf, type Power } from '../measure/statistics.ts'
import type { Machine } from '../output/result.ts'
import type { Passed } from './counting-proxy.ts'
import type { Crash } from './crash.ts'
import type { LeaderLoss } from './leader.ts'
import type { OpenWorld, Saturation } from './open-world.ts'
import type { ServiceLock, ServiceName } from './locks.ts'
import type { Uncontended } from './uncontended.ts'
import type { PhaseCost } from './world.ts'

/** Incremented when the format changes incompatibly. */
const FORMAT = 1
const WHAT = 'zkwire services'

/** A release with so many contenders: medians of all steps. */
export interface ReleaseCell extends PhaseCost {
  lock: string
  size: number
  steps: number
  /** True if all steps caused as many frames and bytes. */
  isConstant: boolean
}

/** The traffic of all contenders while they wait, a second. */
export interface WaitingCell extends Passed {
  lock: string
  size: number
}

export interface ServicesResult {
  format: number
  what: typeof WHAT
  date: string
  commandLine: string
  /** 'complete', or what could not be measured. */
  ended: string
  seconds: number
  machine: Machine
  /** The load of the machine, averaged over a minute, at the start and at the end. */
  load: number[]
  /** The session timeout, and the time to live of leases and keys, in the crashes, ms. */
  timeout: number
  services: { name: ServiceName; version?: string | undefined; missing?: string | undefined }[]
  failures: { lock: string; what: string; reason: string }[]
  releases: ReleaseCell[]
  waiting: WaitingCell[]
  /** Round trips from a release until the next contender has the lock. Undefined for a lock that polls. */
  trips: { lock: string; trips: number }[]
  uncontended: Uncontended[]
  crashes: Crash[]
  leaderLosses: LeaderLoss[]
  openWorlds: OpenWorld[]
  saturations: Saturation[]
}

export const headerOf = (): Pick<ServicesResult, 'format' | 'what'> => ({ format: FORMAT, what: WHAT })

/** @throws Error if the text is not a result of this format */
export function parseServicesResult(text: string): ServicesResult {
  const result = JSON.parse(text) as Partial<ServicesResult>
  if (result.what !== WHAT || result.format !== FORMAT)
    throw new Error('this is not a result of npm run bench -- services, or one of another version')
  return result as ServicesResult
}

const COUNTS = ['woken', 'framesSent', 'framesReceived', 'bytesSent', 'bytesReceived'] as const

export function releaseCellOf({ id }: ServiceLock, size: number, steps: readonly PhaseCost[]): ReleaseCell {
  const middle = (key: keyof PhaseCost) => round(median(steps.map(step => step[key])))
  const traffic = new Set(steps.map(step => COUNTS.map(key => step[key]).join()))
  const [woken, framesSent, framesReceived, bytesSent, bytesReceived] = COUNTS.map(middle)
  return {
    ...{ lock: id, size, steps: steps.length, isConstant: traffic.size === 1 },
    ...{ woken: woken ?? NaN, framesSent: framesSent ?? NaN, framesReceived: framesReceived ?? NaN },
    ...{ bytesSent: bytesSent ?? NaN, bytesReceived: bytesReceived ?? NaN, ms: middle('ms') },
  }
}

/** Rounds fractions. Whole numbers are counts, and stay exact. */
export const round = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(3)))

export interface Growth {
  woken: Power | undefined
  frames: Power | undefined
  bytes: Power | undefined
}

/** Returns the powers of N that fit the costs of a release, or of a second of waiting. */
export function growthOf(cells: readonly (Passed & { size: number; woken?: number })[]): Growth {
  const fit = (of: (cell: Passed & { woken?: number }) => number) =>
    powerOf(cells.map(cell => ({ x: cell.size, y: of(cell) })))
  return { woken: fit(({ woken = NaN }) => woken), frames: fit(framesOf), bytes: fit(bytesOf) }
}

export const framesOf = ({ framesSent, framesReceived }: Passed): number => framesSent + framesReceived
export const bytesOf = ({ bytesSent, bytesReceived }: Passed): number => bytesSent + bytesReceived

/** Returns all figures as lines of five columns, for a spreadsheet or a notebook. */
export function csvOf(result: ServicesResult): string {
  const rows: (string | number)[][] = [['what', 'lock', 'contenders', 'figure', 'value']]
  const add = (what: string, lock: string, size: number | '', figures: object) => {
    for (const [name, value] of Object.entries(figures))
      if (typeof value === 'number') rows.push([what, lock, size, name, round(value)])
  }
  for (const { lock, size, ...figures } of result.releases) add('release', lock, size, figures)
  for (const { lock, size, ...figures } of result.waiting) add('waiting, a second', lock, size, figures)
  for (const { lock, ...figures } of result.trips) add('release', lock, '', figures)
  for (const { lock, warm, cold, trips } of result.uncontended) {
    add('uncontended, warm', lock, 1, { ...warm, trips: trips.warm })
    add('uncontended, cold', lock, 1, { ...cold, trips: trips.cold })
  }
  for (const { lock, hold, arrivals, wait, overtaking } of result.openWorlds)
    add(`open world, ${hold} tail`, lock, '', { arrivals, ...wait, overtaking })
  for (const { lock, contenders, ...figures } of result.saturations) add('saturated', lock, contenders, figures)
  for (const { lock, fault, times } of result.crashes)
    for (const ms of times) rows.push([`after ${fault}`, lock, '', 'ms', ms === null ? '' : round(ms)])
  for (const { lock, times } of result.leaderLosses)
    for (const ms of times) rows.push(['after the loss of the leader', lock, '', 'ms', round(ms)])
  return rows.map(row => `${row.map(quoted).join(',')}\n`).join('')
}

const quoted = (cell: string | number): string => {
  const text = String(cell)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
