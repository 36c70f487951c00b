// A run: all services one after the other, and all locks of each.
import { loadavg } from 'node:os'
import { thisMachine } from '../output/result.ts'
import type { Progress } from '../output/progress.ts'
import { measureCrashes } from './crash.ts'
import { measureLeaderLoss } from './leader.ts'
import { locks, otherLibraries, type ServiceLock, type ServiceName } from './locks.ts'
import { HOLDS, measureOpenWorld, measureSaturation } from './open-world.ts'
import { headerOf, releaseCellOf, round, type ServicesResult } from './result.ts'
import { startService, type Service } from './servers.ts'
import { measureUncontended } from './uncontended.ts'
import { World, type PhaseCost } from './world.ts'

export interface ServicesRunOptions {
  sizes: readonly number[]
  /** The ids of the locks to measure. Default: all. */
  only?: readonly string[] | undefined
  /** The number of releases that are measured, with each number of contenders. */
  steps: number
  /** The number of acquires and releases without another contender. */
  cycles: number
  /** The session timeout, and the time to live of leases and keys, in the crashes, ms. 0: no crashes are measured. */
  timeout: number
  /** The time for which contenders arrive at random, s. 0: neither this nor what waiting costs is measured. */
  seconds: number
}

/** So long that no heartbeat is sent in a step that is counted, ms. */
const LONG_TIMEOUT = 60_000
/** The time for which waiting contenders are watched, ms. */
const WAITING = { polls: 2000, silent: 5000 }
/** The session timeout while the heartbeats of waiting contenders are counted, ms. */
const HEARTBEAT_TIMEOUT = 6000
/** The delay of each direction while round trips are counted, ms. */
const DELAY = 20
const DELAYED_STEPS = 3
/** How long the contenders that never stop are watched, s. */
const SATURATION = 3

type Findings = Pick<
  ServicesResult,
  | 'services'
  | 'failures'
  | 'releases'
  | 'waiting'
  | 'trips'
  | 'uncontended'
  | 'crashes'
  | 'leaderLosses'
  | 'openWorlds'
  | 'saturations'
>

export async function measureServices(
  options: ServicesRunOptions,
  commandLine: readonly string[],
  progress: Progress,
  signal: AbortSignal,
): Promise<ServicesResult> {
  const [begun, load] = [performance.now(), loadavg()[0] ?? NaN]
  const found: Findings = {
    ...{ services: [], failures: [], releases: [], waiting: [], trips: [] },
    ...{ uncontended: [], crashes: [], leaderLosses: [], openWorlds: [], saturations: [] },
  }
  const all = [...locks, ...otherLibraries].filter(({ id }) => options.only?.includes(id) ?? true)
  try {
    for (const name of new Set(all.map(({ service }) => service)))
      await measureService(
        name,
        all.filter(({ service }) => service === name),
        { options, found, progress, signal },
      )
  } finally {
    progress.clear()
  }
  const missing = found.services.flatMap(each => (each.missing === undefined ? [] : [each.name]))
  const failed = [...new Set(found.failures.map(({ lock }) => lock))]
  return {
    ...headerOf(),
    date: new Date().toISOString(),
    commandLine: ['npm run bench -- services', ...commandLine].join(' '),
    ended: missing.length + failed.length === 0 ? 'complete' : `without ${[...missing, ...failed].join(', ')}`,
    seconds: Math.round((performance.now() - begun) / 1000),
    machine: thisMachine(),
    load: [load, loadavg()[0] ?? NaN].map(round),
    timeout: options.timeout,
    ...found,
  }
}

interface Context {
  options: ServicesRunOptions
  found: Findings
  progress: Progress
  signal: AbortSignal
}

async function measureService(name: ServiceName, own: readonly ServiceLock[], context: Context): Promise<void> {
  const { found, signal } = context
  let service: Service
  try {
    service = await startService(name)
  } catch (error) {
    found.services.push({ name, missing: (error as Error).message })
    return
  }
  found.services.push({ name, version: service.version })
  const attempt = async (what: string, lock: ServiceLock, measure: Measure) => {
    signal.throwIfAborted()
    context.progress.show(`${lock.service}, ${lock.name}: ${what}`)
    try {
      await measure(lock, service, context)
    } catch (error) {
      signal.throwIfAborted()
      found.failures.push({ lock: lock.id, what, reason: (error as Error).message })
    }
  }
  try {
    for (const lock of own)
      for (const [what, measure] of Object.entries(measurements)) await attempt(what, lock, measure)
  } finally {
    await service.close()
  }
}

type Measure = (lock: ServiceLock, service: Service, context: Context) => Promise<void>

const measurements: Readonly<Record<string, Measure>> = {
  releases: async (lock, service, { options, found, signal }) => {
    if (!locks.includes(lock)) return
    const world = await World.start({ lock, service, timeout: LONG_TIMEOUT })
    try {
      for (const size of options.sizes) {
        await world.grow(size)
        await world.step()
        const steps: PhaseCost[] = []
        while (steps.length < options.steps) {
          signal.throwIfAborted()
          steps.push(await world.step())
        }
        found.releases.push(releaseCellOf(lock, size, steps))
        if (lock.polls) found.waiting.push({ lock: lock.id, size, ...(await world.rateOfWaiting(WAITING.polls)) })
      }
    } finally {
      await world.close()
    }
  },
  'round trips': async (lock, service, { found }) => {
    if (!locks.includes(lock) || lock.polls) return
    const world = await World.start({ lock, service, timeout: LONG_TIMEOUT })
    try {
      await world.grow(3)
      await world.step()
      world.delay(DELAY)
      const times: number[] = []
      while (times.length < DELAYED_STEPS) times.push((await world.step()).ms)
      // A busy machine can only add to the time.
      found.trips.push({ lock: lock.id, trips: Math.round(Math.min(...times) / (2 * DELAY)) })
    } finally {
      await world.close()
    }
  },
  waiting: async (lock, service, { options, found }) => {
    if (options.seconds === 0 || !locks.includes(lock) || lock.polls) return
    const world = await World.start({ lock, service, timeout: HEARTBEAT_TIMEOUT })
    try {
      const [size = 2] = options.sizes
      await world.grow(size)
      found.waiting.push({ lock: lock.id, size, ...(await world.rateOfWaiting(WAITING.silent)) })
    } finally {
      await world.close()
    }
  },
  uncontended: async (lock, service, { options, found }) => {
    found.uncontended.push(await measureUncontended({ lock, service, timeout: LONG_TIMEOUT, cycles: options.cycles }))
  },
  saturation: async (lock, service, { options: { seconds }, found }) => {
    if (seconds === 0 || !locks.includes(lock)) return
    found.saturations.push(await measureSaturation({ lock, service, timeout: LONG_TIMEOUT }, SATURATION))
  },
  'open world': async (lock, service, { options: { seconds }, found }) => {
    if (seconds === 0 || !locks.includes(lock)) return
    for (const hold of HOLDS)
      found.openWorlds.push(await measureOpenWorld({ lock, service, timeout: LONG_TIMEOUT }, hold, seconds))
  },
  crashes: async (lock, service, { options: { timeout }, found }) => {
    if (timeout > 0) found.crashes.push(...(await measureCrashes({ lock, service, timeout })))
  },
  'loss of the leader': async (lock, _, { options: { timeout }, found }) => {
    if (timeout === 0 || !LOSES_LEADER.includes(lock.id)) return
    const loss = await measureLeaderLoss(lock, timeout)
    if (loss !== undefined) found.leaderLosses.push(loss)
  },
}

/** One lock of each service that has leaders, because the election is the same for all of them. */
const LOSES_LEADER = ['mutex', 'etcd-mutex']
