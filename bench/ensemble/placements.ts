// Notifications and reads by server, and the herd on one member.
import type { Client } from '../../src/index.ts'
import type { Scenario } from '../harness/scenario.ts'
import { shuffled } from '../harness/plan.ts'
import { scenarios } from '../scenarios/index.ts'
import type { Traffic } from '../measure/frame-counter.ts'
import { median, sum } from '../measure/statistics.ts'
import type { Placed, ServerCounts, FrameCounts } from './figures.ts'
import type { Passed, PinnedSessions, Placement } from './pinned.ts'
import type { Site } from './start.ts'

/** The scenarios: a watch without a queue, and the lock that notifies all. */
const NAMES = ['data', 'herd']
const STEPS = 5
/** Attempts to read equal counts. The server counts a frame after it has written it. */
const ATTEMPTS = 50

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
  const readFrameCounts = await startFrameCounts(pinned, adminTraffic, sites, isAlone ? ATTEMPTS : 1)
  for (let step = 0; step < STEPS; step++)
    for (const run of shuffled(runs, random)) {
      signal.throwIfAborted()
      await run.step()
    }
  const frameCounts = await readFrameCounts(isAlone)
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

type Frames = [sent: number, received: number]

const framesOf = (all: readonly Traffic[]): Frames => {
  const counts = all.flatMap(({ work, handshakes, fences, pings }) => [work, handshakes, fences, pings])
  return [sum(counts.map(each => each.framesSent)), sum(counts.map(each => each.framesReceived))]
}

/** Starts counting at both ends. No frame may be in flight, now or when the returned function is called. */
async function startFrameCounts(
  { workers }: PinnedSessions,
  adminTraffic: Traffic,
  sites: readonly Site[],
  attempts: number,
) {
  const clients = async () =>
    (await workers.trafficByUnit()).map((traffic, i): Frames => framesOf(i === 0 ? [traffic, adminTraffic] : [traffic]))
  const servers = () =>
    Promise.all(
      sites.map(async ({ reporter }): Promise<Frames | undefined> => {
        const said = await reporter?.read().catch(() => undefined)
        const { framesSent, framesReceived } = said ?? {}
        return framesSent === undefined || framesReceived === undefined ? undefined : [framesSent, framesReceived]
      }),
    )
  /** Reads both ends at a moment without traffic, at which the servers have counted all frames too. */
  const read = async () => {
    for (let attempt = 1; ; attempt++) {
      const before = { clients: await clients(), servers: await servers() }
      const after = { clients: await clients(), servers: await servers() }
      if (JSON.stringify(before) === JSON.stringify(after) || attempt >= attempts) return after
    }
  }
  const before = await read()
  return async (isAlone: boolean): Promise<FrameCounts> => {
    for (let attempt = 1; ; attempt++) {
      const frameCounts = frameCountsBetween(before, await read())
      if (frameCounts.agree !== false || attempt >= attempts)
        return isAlone ? frameCounts : { ...frameCounts, agree: undefined }
    }
  }
}

interface BothEnds {
  clients: Frames[]
  servers: (Frames | undefined)[]
}

/** Compares what passed between two moments. */
export function frameCountsBetween(before: BothEnds, after: BothEnds): FrameCounts {
  const frames = after.clients.map((clients, i) => {
    const minus = ([sent, received]: Frames, earlier: Frames | undefined): Frames => [
      sent - (earlier?.[0] ?? 0),
      received - (earlier?.[1] ?? 0),
    ]
    const [now, then] = [after.servers[i], before.servers[i]]
    return {
      clients: minus(clients, before.clients[i]),
      server: now === undefined || then === undefined ? undefined : minus(now, then),
    }
  })
  const compared = frames.filter(({ server }) => server !== undefined)
  const isEqual = compared.every(({ clients, server }) => clients[0] === server?.[0] && clients[1] === server[1])
  return { frames, agree: compared.length === 0 ? undefined : isEqual }
}
