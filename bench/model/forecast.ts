// Forecasts the costs of a phase, and how often a lock can be passed on, with the line, cores and round trip of the
// reader. Pure, and free of modules of Node.js, because the report's page uses it too.
import { estimate, type Estimate } from './least-squares.ts'
import { powersOf, termValues, COUNTS, type CountName, type Costs, type Model, type PhaseModel } from './terms.ts'

/** The reader's own numbers. */
export interface Conditions {
  /** The rate of the server's line, bits a second. */
  lineRate: number
  /** The cores that the server can use. */
  cores: number
  /** The time of a round trip between a client and the server, ms. */
  roundTrip: number
  /** How many times a second the lock is to be passed on. */
  releases: number
}

/** The conditions for a reader who gives none. */
export const CONDITIONS: Conditions = { lineRate: 1e9, cores: 4, roundTrip: 0.5, releases: 10 }

export interface PhaseForecast {
  counts: Record<CountName, number>
  /** Processor time in ms. Undefined if the result had no times. */
  server: Estimate | undefined
  client: Estimate | undefined
}

/** Returns what a phase with `size` sessions costs. */
export function phaseForecast(model: PhaseModel, size: number): PhaseForecast {
  const counts = Object.fromEntries(
    COUNTS.map(name => {
      const { factors } = model.counts[name]
      return [name, Math.max(0, Math.round(estimate(model.counts[name], powersOf(size, factors.length - 1)).value))]
    }),
  ) as Record<CountName, number>
  const cost = (costs: Costs | undefined) => costs && estimate(costs, termValues(costs.terms, size, counts))
  return { counts, server: cost(model.server), client: cost(model.client) }
}

/** Returns the duration of a phase on the measured machine, ms. Undefined if the result had no times. */
export function durationHere({ cores }: Model, model: PhaseModel, size: number): Estimate | undefined {
  const { counts, server, client } = phaseForecast(model, size)
  if (model.wait === undefined || client === undefined) return undefined
  const wait = estimate(model.wait, termValues(model.wait.terms, size, counts))
  const added = (key: 'low' | 'high'): number | undefined => {
    const [a, b, c] = [wait[key], client[key], server === undefined ? 0 : server[key]]
    return a === undefined || b === undefined || c === undefined ? undefined : a + (b + c) / cores
  }
  return { value: wait.value + (client.value + (server?.value ?? 0)) / cores, low: added('low'), high: added('high') }
}

export interface LockForecast {
  scenario: string
  size: number
  release: PhaseForecast
  /** The bytes that the longest reply of a release contains: a list of names. Undefined if no session lists. */
  listBytes: number | undefined
  /** From the release until its last reply was received, ms. */
  ms: number
  /** The time in ms that the bytes of a release take on the line. */
  lineMs: number
  /** The largest number of releases a second, each followed by a join of the former holder. */
  perSecond: number
  keepsUp: boolean
}

const BITS_PER_BYTE = 8

/** Returns undefined if the model has no times of this lock. */
export function lockForecast(
  { phases }: Model,
  scenario: string,
  size: number,
  { lineRate, cores, roundTrip, releases }: Conditions,
): LockForecast | undefined {
  const step = phases.filter(each => each.scenario === scenario)
  const model = step.find(({ roundTrips }) => roundTrips !== undefined)
  if (model?.roundTrips === undefined || model.client === undefined) return undefined
  const forecasts = step.map(each => phaseForecast(each, size))
  const line = ({ counts }: PhaseForecast) =>
    (1000 * BITS_PER_BYTE * Math.max(counts.bytesReceived, counts.bytesSent)) / lineRate
  // The server sends while it computes, so the slower of both counts.
  const work = (some: readonly PhaseForecast[]) =>
    Math.max(
      some.reduce((total, each) => total + line(each), 0),
      some.reduce((total, { server }) => total + (server?.value ?? 0), 0) / cores,
    )
  const release = phaseForecast(model, size)
  const { notifications, bytesReceived } = release.counts
  const notifiesAll = model.client.terms.includes('notification')
  const listBytes = model.lists ? bytesReceived / (notifiesAll ? Math.max(1, notifications) : 1) : undefined
  // Each client runs on a machine of its own, so only the work of one of them counts.
  const one = { notifications: 1, bytesReceived: listBytes ?? 0 }
  const client = estimate(model.client, termValues(model.client.terms, 1, one)).value
  const ms = model.roundTrips * roundTrip + work([release]) + client
  const perSecond = 1000 / Math.max(ms, work(forecasts))
  return {
    ...{ scenario, size, release, listBytes, ms, lineMs: line(release), perSecond },
    keepsUp: perSecond >= releases,
  }
}

/** The largest number of sessions that is considered. */
export const MOST_SESSIONS = 1e9

/**
 * Returns the smallest number of sessions from 2 on of which the condition is true, if it stays true from there on.
 * Returns undefined if it is false up to {@link MOST_SESSIONS}.
 */
export function firstSize(isTrue: (size: number) => boolean): number | undefined {
  let [low, high] = [1, MOST_SESSIONS]
  if (!isTrue(high)) return undefined
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isTrue(middle)) high = middle
    else low = middle
  }
  return high
}
