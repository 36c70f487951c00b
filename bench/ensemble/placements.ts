// Notifications and reads by server, and the herd on one member.
import type { Client } from '../../src/index.ts'
import type { Scenario } from '../harness/scenario.ts'
import { scenarios } from '../scenarios/index.ts'
import { noTraffic, totalTraffic, type Traffic } from '../measure/frame-counter.ts'
import { startReconciliation, type Reconciliation } from '../measure/reconcile.ts'
import { median } from '../measure/statistics.ts'
import type { Placed, ServerCounts, FrameCounts } from './figures.ts'
import type { Passed, PinnedSessions, Placement } from './pinned.ts'
import type { Site } from './start.ts'
import { shuffle } from '../../src/runtime/shuffle.ts'

/** The scenarios: a watch without a queue, and the lock that notifies all. */
const NAMES = ['data', 'herd']
const STEPS = 5

export interface PlacementPlan {
  /** Connected to the first server. */
  admin: Client
  adminTraffic: Traffic
  root: string
  sites: readonly Site[]
  sessions: number
  random: () => number
  signal: AbortSignal
  /** True if the servers have no other clients. */
  isAlone: boolean
}

/** A way to place the sessions. */
interface Way {
  on: string
  place: Placement
}

/** Returns the ways to place sessions: on all servers, and on one server of each role. */
export function waysOf(sites: readonly Pick<Site, 'role'>[]): Way[] {
  const firsts = [...new Set(sites.map(({ role }) => role))].map(role => sites.findIndex(site => site.role === role))
  return [
    { on: 'all servers', place: member => member % sites.length },
    ...firsts.map(index => ({ on: `one ${sites[index]?.role}`, place: () => index })),
  ]
}

/** Measures each scenario with each placement, in turns, so that drift of the machine affects all of them. */
export async function measurePlacements(
  pinned: PinnedSessions,
  { admin, adminTraffic, root, sites, sessions, random, signal, isAlone }: PlacementPlan,
): Promise<{ placed: Placed[]; frameCounts: FrameCounts }> {
  const runs: PlacedRun[] = []
  for (const name of NAMES) {
    const scenario = scenarios.find(each => each.name === name)
    if (scenario === undefined) throw new Error(`no scenario is named ${name}`)
    for (const [i, way] of waysOf(sites).entries()) {
      const directory = `${root}/${name}-${i}`
      await admin.create(directory)
      await scenario.setUp?.(admin, directory)
      const run = new PlacedRun(pinned, scenario, directory, sessions, way)
      signal.throwIfAborted()
      await run.gather()
      runs.push(run)
    }
  }
  const readFrameCounts = await startFrameCounts(pinned, adminTraffic, sites, isAlone)
  for (let step = 0; step < STEPS; step++)
    for (const run of shuffle(runs, random)) {
      signal.throwIfAborted()
      await run.step()
    }
  const frameCounts = await readFrameCounts()
  for (const run of runs) await pinned.workers.tearDown(run.directory)
  return { placed: runs.flatMap(run => run.placed), frameCounts }
}

class PlacedRun {
  readonly directory: string
  readonly #pinned: PinnedSessions
  readonly #scenario: Scenario
  readonly #size: number
  readonly #way: Way
  readonly #passed = new Map<string, Passed[]>()
  #marked = 0
  #actor = 0

  constructor(pinned: PinnedSessions, scenario: Scenario, directory: string, size: number, way: Way) {
    this.#pinned = pinned
    this.#scenario = scenario
    this.directory = directory
    this.#size = size
    this.#way = way
  }

  async gather(): Promise<void> {
    await this.#pinned.assemble(this.#scenario, this.directory, this.#size, this.#way.place)
    for (const phase of this.#scenario.warmUp) await this.#play(phase)
    // The first step warms up the code, and is not counted.
    for (const phase of this.#scenario.phases) await this.#play(phase)
  }

  async step(): Promise<void> {
    for (const phase of this.#scenario.phases) {
      const passed = await this.#play(phase)
      this.#passed.set(phase.name, [...(this.#passed.get(phase.name) ?? []), passed])
    }
  }

  get placed(): Placed[] {
    const { name } = this.#scenario
    return [...this.#passed].map(([phase, all]) => ({
      ...{ scenario: name, phase, on: this.#way.on, steps: all.length },
      byServer: mediansOf(all),
      last: median(all.flatMap(({ marks }) => marks.slice(-1))),
      ms: median(all.map(({ ms }) => ms)),
    }))
  }

  async #play(phase: Scenario['phases'][number]): Promise<Passed> {
    const who = { all: 'all', trigger: this.#size, marked: this.#marked, actor: this.#actor } as const
    const passed = await this.#pinned.play(this.directory, this.#size, this.#way.place, phase, who[phase.by])
    this.#actor = Number(who[phase.by])
    this.#marked = passed.last ?? this.#marked
    return passed
  }
}

const mediansOf = (all: readonly Passed[]): ServerCounts[] =>
  (all[0]?.byServer ?? []).map((_, i) => {
    const of = (key: 'notifications' | 'framesSent' | 'bytesSent' | 'bytesReceived') =>
      median(all.map(({ byServer }) => byServer[i]?.[key] ?? 0))
    return {
      ...{ notifications: of('notifications'), requests: of('framesSent') },
      ...{ bytesSent: of('bytesSent'), bytesReceived: of('bytesReceived') },
    }
  })

/**
 * Starts counting at both ends of each server. No frame may be in flight, now or when the returned function is called.
 * @param isAlone true if the servers have no other clients, so that their counts can be equal to the clients'
 */
async function startFrameCounts(
  { workers }: PinnedSessions,
  adminTraffic: Traffic,
  sites: readonly Site[],
  isAlone: boolean,
): Promise<() => Promise<FrameCounts>> {
  const clients = async (server: number) => {
    const traffic = (await workers.trafficByUnit())[server] ?? noTraffic()
    return server === 0 ? totalTraffic([traffic, adminTraffic]) : traffic
  }
  const counts = await Promise.all(
    sites.map(({ reporter }, i) =>
      startReconciliation(
        {
          clients: () => clients(i),
          server: async () => {
            const { framesSent, framesReceived } = (await reporter?.read().catch(() => undefined)) ?? {}
            return framesSent === undefined || framesReceived === undefined ? {} : { framesSent, framesReceived }
          },
        },
        isAlone ? undefined : 1,
      ),
    ),
  )
  return async () => {
    const frames = frameCountsOf(await Promise.all(counts.map(count => count())))
    return isAlone ? frames : { ...frames, agree: undefined }
  }
}

/** Returns the counts of all servers. */
export function frameCountsOf(servers: readonly (Reconciliation | undefined)[]): FrameCounts {
  const frames = servers.map(each => {
    const { framesSent = 0, framesReceived = 0 } = each?.clients ?? {}
    const { framesSent: sent, framesReceived: received } = each?.server ?? {}
    const server: [number, number] | undefined =
      sent === undefined || received === undefined ? undefined : [sent, received]
    return { clients: [framesSent, framesReceived] as [number, number], server }
  })
  const isReported = frames.some(({ server }) => server !== undefined)
  return { frames, agree: isReported ? servers.every(each => each?.agree !== false) : undefined }
}
