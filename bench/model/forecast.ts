// Forecasts the costs of a phase, and how soon a lock can be passed on, with the line, cores and round trip of the
// reader. Pure, and free of modules of Node.js, because the report's page uses it too.
import { estimate, type Estimate } from './least-squares.ts'
import { powersOf, termValues, COUNTS, type CountName, type Costs, type Model, type PhaseModel } from './terms.ts'

/** The reader's own numbers. */
export interface Conditions {
  /** The rate of the server's line, bits a second. */
  lineRate: number
  /** The cores that each server can use. */
  cores: number
  /** The servers of the ensemble. The clients are spread evenly over them. */
  servers: number
  /** The time of a round trip between a client and the server, ms. */
  roundTrip: number
  /** How long each client holds the lock, ms. */
  hold: number
}

/** The conditions for a reader who gives none. */
export const CONDITIONS: Conditions = { lineRate: 1e9, cores: 4, servers: 1, roundTrip: 0.5, hold: 100 }

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
  /** True if passing the lock on takes no longer than a client holds it. */
  keepsUp: boolean
}

const BITS_PER_BYTE = 8
/** The round trips between servers until a follower has the outcome of a write: to the leader, and the proposal. */
const WRITE_TRIPS = 2
/** The scenarios in which each notified client writes. Every server executes all writes, so they are not shared out. */
const WRITERS = ['ephemeral']

/** Returns undefined if the model has no times of this lock. */
export function lockForecast(
  { phases }: Model,
  scenario: string,
  size: number,
  conditions: Conditions,
): LockForecast | undefined {
  const { roundTrip, hold } = conditions
  const step = phases.filter(each => each.scenario === scenario)
  const model = step.find(({ roundTrips }) => roundTrips !== undefined)
  if (model?.roundTrips === undefined || model.client === undefined) return undefined
  const release = phaseForecast(model, size)
  const { notifications, bytesReceived } = release.counts
  const listBytes = model.lists ? bytesReceived / (notifiesAll(model) ? Math.max(1, notifications) : 1) : undefined
  // Each client runs on a machine of its own, so only the work of one of them counts.
  const one = { notifications: 1, bytesReceived: listBytes ?? 0 }
  const client = estimate(model.client, termValues(model.client.terms, 1, one)).value
  const isWriter = WRITERS.includes(scenario)
  const trips = model.roundTrips + (conditions.servers === 1 ? 0 : WRITE_TRIPS * (isWriter ? 2 : 1))
  const ms = trips * roundTrip + serverMs([model], size, conditions) + client
  const perSecond = 1000 / Math.max(ms, serverMs(step, size, conditions))
  return {
    ...{ scenario, size, release, listBytes, ms, perSecond },
    lineMs: lineMs(release, conditions, sharedBy(model, conditions)),
    keepsUp: perSecond >= 1000 / hold,
  }
}

export interface WatchForecast {
  scenario: string
  phase: string
  change: PhaseForecast
  /** From the change until the last client has been notified, and has read again if its watch fires once, ms. */
  ms: number
}

/** Returns what a change of something that `size` clients watch costs, for each such phase with times. */
export function watchForecasts({ phases }: Model, size: number, conditions: Conditions): WatchForecast[] {
  return phases.flatMap(model => {
    if (model.kind !== 'watch' || model.client === undefined) return []
    const change = phaseForecast(model, size)
    const { notifications, framesSent } = change.counts
    const readsAgain = framesSent > notifications
    const trips = (readsAgain ? 2 : 1) + (conditions.servers === 1 ? 0 : WRITE_TRIPS)
    const client = estimate(model.client, termValues(model.client.terms, 1, { notifications: 1, bytesReceived: 0 }))
    const ms = trips * conditions.roundTrip + serverMs([model], size, conditions) + client.value
    return [{ scenario: model.scenario, phase: model.phase, change, ms }]
  })
}

const notifiesAll = ({ client }: PhaseModel): boolean => client?.terms.includes('notification') === true

/** Returns how many servers share what a phase causes. A single client reads its list from a single server. */
const sharedBy = (phase: PhaseModel, { servers }: Conditions): number => (notifiesAll(phase) ? servers : 1)

/** Returns how long the bytes of a phase take on the lines of these servers, ms. */
const lineMs = ({ counts }: PhaseForecast, { lineRate }: Conditions, servers: number): number =>
  (1000 * BITS_PER_BYTE * Math.max(counts.bytesReceived, counts.bytesSent)) / lineRate / servers

/** Returns how long the servers are busy with these phases, ms. They send while they compute, so the slower of both counts. */
function serverMs(phases: readonly PhaseModel[], size: number, conditions: Conditions): number {
  let [line, processor] = [0, 0]
  for (const phase of phases) {
    const forecast = phaseForecast(phase, size)
    const servers = sharedBy(phase, conditions)
    const all = forecast.server?.value ?? 0
    // Each server executes the write itself. Notifications and reads are shared out.
    const write = WRITERS.includes(phase.scenario) ? all : Math.min(all, phase.server?.factors[0] ?? 0)
    line += lineMs(forecast, conditions, servers)
    processor += (write + (all - write) / servers) / conditions.cores
  }
  return Math.max(line, processor)
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
