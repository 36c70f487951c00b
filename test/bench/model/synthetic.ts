// A result whose costs are known exactly, to see whether the model finds them.
import type { Measured } from '../../../bench/model/model.ts'
import type { PhaseSummary, Summary } from '../../../bench/measure/summary.ts'

/** Costs in ms: constant, for each notification, and for each byte that is read. */
interface KnownCosts {
  server: [phase: number, notification: number, byte: number]
  client: [phase: number, notification: number, byte: number]
  wait: number
}

export interface KnownLock {
  name: string
  notifications: (n: number) => number
  bytes: (n: number) => number
  theory: { notifications: number; bytes: number }
  roundTrips: number
  costs: KnownCosts
}

const CORES = 2
const BYTES_A_NAME = 59

const costs: KnownCosts = { server: [0.5, 0.03, 2e-6], client: [0.4, 0.02, 5e-6], wait: 0.2 }

export const herd: KnownLock = {
  ...{ name: 'herd', notifications: n => n - 1, bytes: n => (n - 1) * (BYTES_A_NAME * n + 100), roundTrips: 2, costs },
  theory: { notifications: 1, bytes: 2 },
}
export const lookAhead: KnownLock = {
  ...{ name: 'look-ahead', notifications: () => 3, bytes: n => BYTES_A_NAME * n + 400, roundTrips: 1, costs },
  theory: { notifications: 0, bytes: 1 },
}
export const ticket: KnownLock = {
  ...{ name: 'ticket', notifications: () => 3, bytes: () => 544, roundTrips: 1, costs },
  theory: { notifications: 0, bytes: 0 },
}

const SIZES = [10, 50, 100, 200, 1000]

/** @param isTimed false if the phases were only counted, with fences */
export function measuredOf(locks: readonly KnownLock[], sizes: readonly number[] = SIZES, isTimed = true): Measured {
  return {
    cells: locks.flatMap(lock => sizes.map(size => cellOf(lock, size, isTimed))),
    growth: locks.map(({ name, theory }) => ({
      ...{ scenario: name, phase: 'release', sizes: [...sizes], notifications: undefined, bytes: undefined, theory },
    })),
    scenarios: locks.map(({ name }) => ({ name, kind: 'lock' })),
    recordings: locks.map(({ name, roundTrips }) => recordingOf(name, roundTrips)),
    machine: { cores: CORES },
  }
}

function cellOf({ name, notifications, bytes, costs }: KnownLock, size: number, isTimed: boolean): Summary {
  const spread = (value: number) => ({ median: value, min: value, max: value })
  const cost = ([phase, notification, byte]: KnownCosts['server'], n: number, read: number) =>
    phase + notification * n + byte * read
  const phaseOf = (phase: string, n: number, read: number): PhaseSummary => {
    const [serverCpuMs, clientCpuMs] = [cost(costs.server, n, read), cost(costs.client, n, read)]
    const counts = {
      ...{ steps: 3, notifications: spread(n), framesSent: spread(n + 1), framesReceived: spread(2 * n + 1) },
      ...{ bytesSent: spread(50 * n + 60), bytesReceived: spread(read) },
    }
    const ms = costs.wait + (serverCpuMs + clientCpuMs) / CORES
    return { phase, counts, marks: undefined, ms, clientCpuMs, serverCpuMs }
  }
  return {
    ...{ scenario: name, size, isConstant: true, asExpected: isTimed ? true : undefined },
    phases: [phaseOf('release', notifications(size), bytes(size)), phaseOf('join', 0, 200)],
    busy: { client: 0.5, server: 0.5, machine: 1 },
  }
}

/** Frames in which the first waiter needs this many round trips from the release to the lock. */
function recordingOf(scenario: string, roundTrips: number): Measured['recordings'][number] {
  const event = (who: number, is: string, op: string) => ({ who, is, op })
  const reads = Array.from({ length: roundTrips - 1 }, () => [
    event(1, 'request', 'getData'),
    event(1, 'answer', 'getData'),
  ])
  const happenings = [event(0, 'request', 'delete'), event(1, 'event', ''), ...reads.flat(), event(1, 'mark', '')]
  return { scenario, phase: 'release', sessions: 12, actor: 0, happenings } as never
}
