// The part of a result that is compared, so that results of `npm start` and of `npm run bench -- peers` are compared in one
// way. Pure.
import { nameOf } from '../harness/server.ts'
import { bytes } from '../output/figures.ts'
import type { Machine, Result } from '../output/result.ts'

export interface Digest {
  /** The kind of the result. Only results of one kind can be compared. */
  what: string
  date: string
  commandLine: string
  conditions: Conditions
  /** The names of the scenarios that the run was asked for. */
  scenarios: string[]
  /** The numbers of sessions that it was asked for. */
  sizes: number[]
  cells: DigestCell[]
}

/** Times can be compared if the server, the machine and Node.js are the same. */
export interface Conditions {
  server: string
  machine: string
  node: string
  /** The version that was measured. Undefined if zkwire was not. */
  zkwire: string | undefined
  /** The versions of the other libraries that were measured. */
  libraries: string | undefined
}

export interface DigestCell {
  scenario: string
  size: number
  /** True if all steps had the same counts. */
  isConstant: boolean
  phases: DigestPhase[]
}

/** The counts that are exact in most scenarios. */
export const COUNTS = ['notifications', 'frames', 'bytes'] as const

interface DigestPhase {
  phase: string
  counts: Record<(typeof COUNTS)[number], number>
  bytesRead: number
  /** Until the median session was marked, ms. */
  p50: number | undefined
  clientCpuMs: number | undefined
}

export const conditionsOn = (
  { cores, cpu, platform, memoryBytes, node }: Machine,
  server: string,
  zkwire: string | undefined,
  libraries?: string,
): Conditions => ({
  server,
  machine: `${cores} cores of ${cpu}, ${platform}, ${bytes(memoryBytes)} bytes of memory`,
  ...{ node, zkwire, libraries },
})

export function digestOf(result: Result): Digest {
  const { what, date, commandLine, machine, server, release, scenarios, sizes, cells } = result
  return {
    ...{ what, date, commandLine },
    conditions: conditionsOn(machine, nameOf({ servers: '', ...server }), release),
    scenarios: scenarios.map(({ name }) => name),
    sizes,
    cells: cells.map(({ scenario, size, isConstant, phases }) => ({
      ...{ scenario, size, isConstant },
      phases: phases.map(({ phase, counts, marks, clientCpuMs }) => ({
        phase,
        counts: {
          notifications: counts.notifications.median,
          frames: counts.framesSent.median + counts.framesReceived.median,
          bytes: counts.bytesSent.median + counts.bytesReceived.median,
        },
        ...{ bytesRead: counts.bytesReceived.median, p50: marks?.all.p50, clientCpuMs },
      })),
    })),
  }
}
