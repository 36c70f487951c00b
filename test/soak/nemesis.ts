// What befalls workers, servers and nodes. Each fault is drawn, done, and healed before the next of its class.
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { now } from '../linearizability/history.ts'
import type { Window } from '../linearizability/invariants.ts'
import { opcodesOfLocks, type TorturedLocks } from '../linearizability/workload.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { oneOf, seededRandom, type Random } from '../support/seeded-random.ts'
import { SYNC_LIMIT, TICK, type Ensemble } from '../support/ensemble.ts'
import { until } from '../support/until.ts'
import type { WorkerProcess } from './worker-process.ts'

/** For how long a follower lives without its leader, ms, and then its clients without it. */
const FOLLOWERS_LIFE = SYNC_LIMIT * TICK
/** A process that goes on again has a lot to do, ms. */
const AWAKENING = 2000

export interface Scene {
  ensemble: Ensemble
  workers: WorkerProcess[]
  locks: TorturedLocks
  sessionTimeout: number
  seed: number
  /** Puts another in the place of one that was killed. */
  replace: (worker: WorkerProcess) => Promise<void>
}

type Faults = Record<string, (random: Random) => Promise<void>>

/** @throws where one of them does not find back */
export async function everybodyServes(ensemble: Ensemble): Promise<void> {
  const serves = async (server: ApacheZooKeeper) => (await ensemble.mode(server)) !== undefined
  await until(async () => (await Promise.all(ensemble.servers.map(serves))).every(Boolean), { within: 60_000 })
}

export class Nemesis {
  readonly #scene: Scene
  /** How often each fault came about. */
  readonly counts = new Map<string, number>()
  /** When workers could not be sure to be answered. */
  readonly harm: Window[] = []
  /** When they could not know better. */
  readonly blind: Window[] = []
  #isOn = true

  constructor(scene: Scene) {
    this.#scene = scene
  }

  /** Rages for so many milliseconds, and resolves when all is healed. */
  async rage(ms: number): Promise<void> {
    const { ensemble, seed } = this.#scene
    await using outsider = await connect(ensemble.connectString)
    const raging = Promise.all([
      this.#draw(this.#onLinks(), seededRandom(seed + 1), 600),
      this.#draw(this.#onLinks(), seededRandom(seed + 2), 600),
      this.#draw(this.#onProcesses(), seededRandom(seed + 3), 6000),
      this.#draw(this.#onServers(), seededRandom(seed + 4), 10_000),
      this.#draw(this.#onNodes(outsider), seededRandom(seed + 5), 200),
    ])
    await delay(ms)
    this.#isOn = false
    await raging
  }

  /** One fault after the other, with pauses of `mean` milliseconds in between. */
  async #draw(faults: Faults, random: Random, mean: number): Promise<void> {
    const names = Object.keys(faults)
    for (;;) {
      const until = now() + mean * -Math.log(1 - random())
      while (now() < until && this.#isOn) await delay(Math.min(200, until - now()))
      if (!this.#isOn) return
      const name = oneOf(random, names)
      await faults[name]?.(random)
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
    }
  }

  #duration(random: Random): number {
    return this.#scene.sessionTimeout * oneOf(random, [0.2, 0.6, 0.9, 1.1, 2])
  }

  #onLinks(): Faults {
    const during = async (random: Random, harm: (worker: WorkerProcess) => Promise<void>) => {
      const worker = oneOf(random, this.#scene.workers)
      const from = now()
      await harm(worker)
      for (const proxy of worker.proxies) {
        proxy.heal()
        proxy.frames.length = 0
      }
      this.harm.push({ from, to: now(), who: `${worker.name}-` })
    }
    const weather =
      (make: (random: Random) => Partial<WorkerProcess['proxies'][number]['conditions']>) => (random: Random) =>
        during(random, async worker => {
          for (const proxy of worker.proxies) Object.assign(proxy.conditions, make(random))
          await delay(this.#duration(random))
        })
    const plan = (fault: 'dropReply' | 'dropRequest') => (random: Random) =>
      during(random, async worker => {
        const opcode = oneOf(random, opcodesOfLocks)
        await Promise.race([...worker.proxies.map(proxy => proxy[fault](opcode)), delay(500)])
      })
    return {
      'reset connections': random =>
        during(random, worker => {
          for (const proxy of worker.proxies) proxy.resetAll()
          return Promise.resolve()
        }),
      'black hole': weather(random => ({ blackHole: oneOf(random, ['up', 'down', 'both'] as const) })),
      delay: weather(random => ({ delay: 0.3 * this.#scene.sessionTimeout * random() })),
      slice: weather(random => ({ slice: 1 + Math.floor(7 * random()) })),
      'cut within a frame': weather(random => ({ bytesLeft: Math.floor(300 * random()) })),
      'lost reply': plan('dropReply'),
      'lost request': plan('dropRequest'),
      'session killed': random => {
        oneOf(random, this.#scene.workers).killSession()
        return Promise.resolve()
      },
    }
  }

  #onProcesses(): Faults {
    return {
      'worker stopped': async random => {
        const worker = oneOf(random, this.#scene.workers)
        const from = now()
        worker.stop()
        await delay(this.#duration(random))
        worker.goOn()
        const window = { from, to: now() + AWAKENING, who: `${worker.name}-` }
        this.blind.push(window)
        this.harm.push(window)
      },
      'worker killed': random => this.#scene.replace(oneOf(random, this.#scene.workers)),
    }
  }

  #onServers(): Faults {
    const { ensemble } = this.#scene
    /** Nobody is sure to be answered until all servers serve again. */
    const during = async (harm: () => Promise<void>) => {
      const from = now()
      await harm()
      await everybodyServes(ensemble)
      this.harm.push({ from, to: now(), who: '' })
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
          ensemble.slow(oneOf(random, ensemble.servers), 0.2 * this.#scene.sessionTimeout * random())
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
          this.blind.push({ from, to: now() + FOLLOWERS_LIFE, who: '' })
        }),
    }
  }

  #onNodes(outsider: Client): Faults {
    const paths = [...this.#scene.locks.keys()]
    const boldly = (deed: (path: string, random: Random) => Promise<unknown>) => async (random: Random) => {
      try {
        await deed(oneOf(random, paths), random)
      } catch {
        // There is no node, others go on creating, or no server answers.
      }
    }
    const deleteOne = boldly(async (path, random) => {
      const { children } = await outsider.getChildren(path)
      const child = oneOf(random, children) as string | undefined
      await outsider.deleteRecursive(child === undefined ? path : `${path}/${child}`)
    })
    return { 'node deleted': deleteOne, 'directory deleted': boldly(path => outsider.deleteRecursive(path)) }
  }
}
