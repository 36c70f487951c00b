// Injects faults into workers, servers and nodes. Within each class, a fault is healed before the next one starts.
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { now } from '../linearizability/history.ts'
import type { FaultWindow } from '../linearizability/evidence.ts'
import { lockOpcodes, type LocksUnderTest } from '../linearizability/workload.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { oneOf, seededRandom, type Random } from '../support/seeded-random.ts'
import type { Ensemble } from '../../environment/ensemble.ts'
import { SYNC_LIMIT, TICK } from '../../environment/running-ensemble.ts'
import { until } from '../../environment/until.ts'
import type { WorkerProcess } from './worker-process.ts'

/**
 * How long a follower serves without its leader, ms. After an isolation, its clients may take as long to notice the
 * loss of a lock.
 */
const STALE_FOLLOWER_TIME = SYNC_LIMIT * TICK
/** How long a resumed process may take to catch up, ms. */
const CATCH_UP_TIME = 2000

export interface NemesisOptions {
  ensemble: Ensemble
  workers: WorkerProcess[]
  locks: LocksUnderTest
  sessionTimeout: number
  seed: number
  /** Kills the worker and starts another one. */
  replace: (worker: WorkerProcess) => Promise<void>
}

type Faults = Record<string, (random: Random) => Promise<void>>

/**
 * Resolves when every server of the ensemble serves.
 * @throws Error if a server does not serve within a minute
 */
export async function allServe(ensemble: Ensemble): Promise<void> {
  const serves = async (server: ApacheZooKeeper) => (await ensemble.mode(server)) !== undefined
  await until(async () => (await Promise.all(ensemble.servers.map(serves))).every(Boolean), { within: 60_000 })
}

export class Nemesis {
  readonly #options: NemesisOptions
  /** How often each fault was injected. */
  readonly counts = new Map<string, number>()
  /** When requests or replies of workers could be lost or delayed. */
  readonly disruptions: FaultWindow[] = []
  /** When workers could not notice the loss of a lock. */
  readonly unaware: FaultWindow[] = []
  #isRunning = true

  constructor(options: NemesisOptions) {
    this.#options = options
  }

  /** Injects faults for `ms` milliseconds. Resolves when the last one is healed. */
  async run(ms: number): Promise<void> {
    const { ensemble, seed } = this.#options
    await using outsider = await connect(ensemble.connectString)
    const classes = Promise.all([
      this.#injectRepeatedly(this.#linkFaults(), seededRandom(seed + 1), 600),
      this.#injectRepeatedly(this.#linkFaults(), seededRandom(seed + 2), 600),
      this.#injectRepeatedly(this.#processFaults(), seededRandom(seed + 3), 6000),
      this.#injectRepeatedly(this.#serverFaults(), seededRandom(seed + 4), 10_000),
      this.#injectRepeatedly(this.#nodeFaults(outsider), seededRandom(seed + 5), 200),
    ])
    await delay(ms)
    this.#isRunning = false
    await classes
  }

  /** Injects one random fault after the other, with random pauses of `mean` milliseconds on average. */
  async #injectRepeatedly(faults: Faults, random: Random, mean: number): Promise<void> {
    const names = Object.keys(faults)
    for (;;) {
      const until = now() + mean * -Math.log(1 - random())
      while (now() < until && this.#isRunning) await delay(Math.min(200, until - now()))
      if (!this.#isRunning) return
      const name = oneOf(random, names)
      await faults[name]?.(random)
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
    }
  }

  #duration(random: Random): number {
    return this.#options.sessionTimeout * oneOf(random, [0.2, 0.6, 0.9, 1.1, 2])
  }

  #linkFaults(): Faults {
    const during = async (random: Random, disrupt: (worker: WorkerProcess) => Promise<void>) => {
      const worker = oneOf(random, this.#options.workers)
      const from = now()
      await disrupt(worker)
      for (const proxy of worker.proxies) {
        proxy.heal()
        proxy.frames.length = 0
      }
      this.disruptions.push({ from, to: now(), idPrefix: `${worker.name}-` })
    }
    const weather =
      (make: (random: Random) => Partial<WorkerProcess['proxies'][number]['conditions']>) => (random: Random) =>
        during(random, async worker => {
          for (const proxy of worker.proxies) Object.assign(proxy.conditions, make(random))
          await delay(this.#duration(random))
        })
    const plan = (fault: 'dropReply' | 'dropRequest') => (random: Random) =>
      during(random, async worker => {
        const opcode = oneOf(random, lockOpcodes)
        await Promise.race([...worker.proxies.map(proxy => proxy[fault](opcode)), delay(500)])
      })
    return {
      'reset connections': random =>
        during(random, worker => {
          for (const proxy of worker.proxies) proxy.resetAll()
          return Promise.resolve()
        }),
      'black hole': weather(random => ({ blackHole: oneOf(random, ['up', 'down', 'both'] as const) })),
      delay: weather(random => ({ delay: 0.3 * this.#options.sessionTimeout * random() })),
      slice: weather(random => ({ slice: 1 + Math.floor(7 * random()) })),
      'cut within a frame': weather(random => ({ bytesLeft: Math.floor(300 * random()) })),
      'lost reply': plan('dropReply'),
      'lost request': plan('dropRequest'),
      'session killed': random => {
        oneOf(random, this.#options.workers).killSession()
        return Promise.resolve()
      },
    }
  }

  #processFaults(): Faults {
    return {
      'worker stopped': async random => {
        const worker = oneOf(random, this.#options.workers)
        const from = now()
        worker.pause()
        await delay(this.#duration(random))
        worker.resume()
        const window = { from, to: now() + CATCH_UP_TIME, idPrefix: `${worker.name}-` }
        this.unaware.push(window)
        this.disruptions.push(window)
      },
      'worker killed': random => this.#options.replace(oneOf(random, this.#options.workers)),
    }
  }

  #serverFaults(): Faults {
    const { ensemble } = this.#options
    /** Any worker's requests may be lost until all servers serve again. */
    const during = async (disrupt: () => Promise<void>) => {
      const from = now()
      await disrupt()
      await allServe(ensemble)
      this.disruptions.push({ from, to: now(), idPrefix: '' })
    }
    const killed = (choose: (random: Random) => Promise<ApacheZooKeeper>) => (random: Random) =>
      during(async () => {
        const server = await choose(random)
        await server.kill()
        await delay(this.#duration(random))
        await server.start()
      })
    const paused = (choose: (random: Random) => Promise<ApacheZooKeeper>) => (random: Random) =>
      during(async () => {
        const server = await choose(random)
        await server.pause()
        await delay(this.#duration(random))
        server.resume()
      })
    const any = (random: Random) => Promise.resolve(oneOf(random, ensemble.servers))
    const leader = () => ensemble.leader()
    return {
      'server killed': killed(any),
      'leader killed': killed(leader),
      'server paused': paused(any),
      'leader paused': paused(leader),
      'all killed': random =>
        during(async () => {
          await Promise.all(ensemble.servers.map(server => server.kill()))
          await delay(this.#duration(random))
          await Promise.all(ensemble.servers.map(server => server.start()))
        }),
      'quorum slow': random =>
        during(async () => {
          ensemble.slow(oneOf(random, ensemble.servers), 0.2 * this.#options.sessionTimeout * random())
          await delay(this.#duration(random))
          ensemble.heal()
        }),
      'follower isolated': random =>
        during(async () => {
          await ensemble.leader()
          const [follower] = await ensemble.followers()
          if (follower === undefined) return
          const from = now()
          ensemble.isolate(follower)
          await delay(2 * this.#duration(random))
          ensemble.heal()
          this.unaware.push({ from, to: now() + STALE_FOLLOWER_TIME, idPrefix: '' })
        }),
    }
  }

  #nodeFaults(outsider: Client): Faults {
    const paths = [...this.#options.locks.keys()]
    const ignoringErrors = (action: (path: string, random: Random) => Promise<unknown>) => async (random: Random) => {
      try {
        await action(oneOf(random, paths), random)
      } catch {
        // There is no such node, workers keep creating children, or no server replies.
      }
    }
    const deleteOne = ignoringErrors(async (path, random) => {
      const { children } = await outsider.getChildren(path)
      const child = oneOf(random, children) as string | undefined
      await outsider.deleteRecursive(child === undefined ? path : `${path}/${child}`)
    })
    return { 'node deleted': deleteOne, 'directory deleted': ignoringErrors(path => outsider.deleteRecursive(path)) }
  }
}
