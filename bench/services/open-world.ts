// Contenders that come at random and hold the lock for random times: how long each waits, and in which order they get
// it. And contenders that never stop: how many grants a second there are at most, and how they are shared out.
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom, type Random } from '../../environment/seeded-random.ts'
import { median, sum } from '../measure/statistics.ts'
import type { Driver, DriverEvent } from '../peers/driver.ts'
import { World, type WorldOptions } from './world.ts'

/** The distribution of the hold times. Both have the same mean. */
export const HOLDS = ['light', 'heavy'] as const
export type Hold = (typeof HOLDS)[number]

export interface OpenWorld {
  lock: string
  hold: Hold
  arrivals: number
  /** How long a contender waits for the lock, ms. */
  wait: { p50: number; p99: number; p999: number }
  /** The share of grants to a contender that came later than one that still waited. 0: first come, first served. */
  overtaking: number
}

export interface Saturation {
  lock: string
  contenders: number
  /** The grants a second when all contenders want the lock again at once. More arrivals would never be served. */
  perSecond: number
  /** Jain's index of the grants of each contender: 1 if all got as many, 1 / N if one got all. */
  jain: number
}

/** The mean time between arrivals, and the mean hold time, ms. So the lock is held for half of the time. */
const MEAN = { between: 40, hold: 20 }
/** The connections that arrivals use. An arrival that finds none free waits for one, and this time counts. */
const CONNECTIONS = 40
/** The exponent of the heavy tail: the mean exists, the variance does not. */
const PARETO = 1.5

/** Returns random times with this mean, ms. */
export function holdTimes(hold: Hold, mean: number, random: Random): () => number {
  // 1 - random() is never 0.
  if (hold === 'light') return () => -mean * Math.log(1 - random())
  const least = (mean * (PARETO - 1)) / PARETO
  return () => least * (1 - random()) ** (-1 / PARETO)
}

/** One visit of a contender, ms. */
export interface Visit {
  arrived: number
  held: number
}

export function openWorldOf(lock: string, hold: Hold, visits: readonly Visit[]): OpenWorld {
  const waits = visits.map(({ arrived, held }) => held - arrived).sort((a, b) => a - b)
  const quantile = (share: number) => waits[Math.ceil(share * waits.length) - 1] ?? NaN
  const overtaking = visits.filter(({ arrived, held }) =>
    visits.some(other => other.arrived < arrived && other.held > held),
  ).length
  return {
    ...{ lock, hold, arrivals: visits.length },
    wait: { p50: median(waits), p99: quantile(0.99), p999: quantile(0.999) },
    overtaking: overtaking / visits.length,
  }
}

/** Jain's index of fairness. */
export const jainOf = (shares: readonly number[]): number =>
  sum(shares) ** 2 / (shares.length * sum(shares.map(share => share ** 2)))

/** The holder leaves `ms` after it got the lock. */
const leaveAfter = (driver: Driver, who: number, ms: number): void => {
  setTimeout(() => driver.send(`leave ${who}`), ms)
}

/** @param seconds how long contenders arrive */
export async function measureOpenWorld(options: WorldOptions, hold: Hold, seconds: number): Promise<OpenWorld> {
  const { lock } = options
  const world = await World.start(options)
  try {
    const { driver, path } = world
    await world.open(CONNECTIONS, false)
    const random = seededRandom(1)
    const [between, held] = [holdTimes('light', MEAN.between, random), holdTimes(hold, MEAN.hold, random)]
    const arrivals: number[] = []
    for (let at = between(); at < seconds * 1000; at += between()) arrivals.push(at)
    const holds = arrivals.map(() => held())
    const visits: Visit[] = []
    const free = Array.from({ length: CONNECTIONS }, (_, who) => who)
    const waiting: number[] = []
    const serving = new Map<number, { arrived: number; hold: number }>()
    const begun = performance.now()
    const serve = () => {
      while (free.length > 0 && waiting.length > 0) {
        const [who, index] = [free.shift() ?? NaN, waiting.shift() ?? NaN]
        serving.set(who, { arrived: begun + (arrivals[index] ?? NaN), hold: holds[index] ?? 0 })
        driver.send(`join ${who} ${lock.recipe} ${path} 0`)
      }
    }
    const read = ({ is, who, at }: DriverEvent) => {
      const visit = serving.get(who)
      if (is === 'held' && visit !== undefined) {
        visits.push({ arrived: visit.arrived, held: at })
        leaveAfter(driver, who, visit.hold)
      } else if (is === 'left') {
        free.push(who)
        serve()
      }
    }
    const ended = driver.until('end of all visits', () => {
      for (const event of driver.events.splice(0)) read(event)
      return visits.length === arrivals.length && free.length === CONNECTIONS
    })
    // A failure that comes before all have arrived is reported below.
    ended.catch(() => undefined)
    for (const [index, at] of arrivals.entries()) {
      const left = begun + at - performance.now()
      if (left > 0) await delay(left)
      waiting.push(index)
      serve()
    }
    await ended
    return openWorldOf(lock.id, hold, visits)
  } finally {
    await world.close()
  }
}

const SATURATED = { contenders: 10, hold: 5 }

/** The grants a second of a lock whose hand-overs took no time. */
export const WITHOUT_HAND_OVERS = 1000 / SATURATED.hold

export async function measureSaturation(options: WorldOptions, seconds: number): Promise<Saturation> {
  const { lock } = options
  const { contenders, hold } = SATURATED
  const world = await World.start(options)
  try {
    const { driver, path } = world
    await world.open(contenders, false)
    const grants = Array.from({ length: contenders }, () => 0)
    const join = (who: number) => driver.send(`join ${who} ${lock.recipe} ${path} 0`)
    const begun = performance.now()
    for (const who of grants.keys()) join(who)
    await driver.waitsFor(() => {
      for (const { is, who } of driver.events.splice(0))
        if (is === 'held') {
          grants[who] = (grants[who] ?? 0) + 1
          leaveAfter(driver, who, hold)
        } else if (is === 'left') join(who)
      return false
    }, seconds * 1000)
    const elapsed = (performance.now() - begun) / 1000
    return { lock: lock.id, contenders, perSecond: sum(grants) / elapsed, jain: jainOf(grants) }
  } finally {
    await world.close()
  }
}
