// One lock of one service: contenders in a program of their own, and a counting proxy for each of them.
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { installTools } from '../../environment/installed-tools.ts'
import { lockClients } from '../../environment/needs.ts'
import { descendantsOf, isAsleep } from '../../environment/procfs.ts'
import { Driver, type Command } from '../peers/driver.ts'
import { provide } from '../peers/provide.ts'
import { CountingProxy, nothingPassed, type Passed } from './counting-proxy.ts'
import { protocols, type ServiceLock, type ServiceName } from './locks.ts'
import type { Service } from './servers.ts'

/** The programs in `contenders`. Those of `npm` get the folder of the packages. */
const programs: Record<'own' | 'npm', Partial<Record<ServiceName, string>>> = {
  own: { Redis: 'redis.ts', etcd: 'etcd.ts', PostgreSQL: 'postgresql.ts' },
  npm: { Redis: 'redlock.ts', etcd: 'etcd3.ts' },
}

/** @throws Error that says why the library of the contenders cannot be had */
export async function commandOf({ program, service }: ServiceLock): Promise<Command> {
  if (program !== 'own' && program !== 'npm') return (await provide(program, {})).command
  const file = programs[program][service]
  if (file === undefined) throw new Error(`no program has contenders of ${service}`)
  const path = fileURLToPath(new URL(`contenders/${file}`, import.meta.url))
  return [
    ...[process.execPath, '--import', 'tsx', path],
    ...(program === 'npm' ? [await installTools(lockClients)] : []),
  ] as const
}

/** The interval between two looks at the traffic, ms. */
const INTERVAL = 2
/** The time without traffic after which a step has ended, ms: longer than a client puts off what it sends. */
const SILENCE = 20

/** What a phase has cost. */
export interface PhaseCost extends Passed {
  /** The contenders to which the server has sent something, without the one that acts. */
  woken: number
  /** From the call of the release until another contender has the lock, ms. */
  ms: number
}

export interface WorldOptions {
  lock: ServiceLock
  service: Service
  /** The session timeout, or the time to live of a lease or key, ms. */
  timeout: number
}

/** All paths have the same length, so that they cost the same bytes. */
let worlds = 0

export class World {
  readonly driver: Driver
  readonly lock: ServiceLock
  readonly #proxies: CountingProxy[] = []
  readonly #service: Service
  readonly #timeout: number
  /** The path of the lock. No two worlds have the same, because one that was killed may still hold its lock. */
  readonly path: string
  /** The contenders that wait, and at first the holder. */
  readonly #queue: number[] = []
  #holder = NaN

  private constructor({ lock, service, timeout }: WorldOptions, command: Command) {
    this.lock = lock
    this.#service = service
    this.#timeout = timeout
    this.path = `/zkwire-bench-${lock.id.padEnd(14, '-')}-${String(worlds++).padStart(3, '0')}`
    this.driver = new Driver(command)
  }

  static async start(options: WorldOptions): Promise<World> {
    return new World(options, await commandOf(options.lock))
  }

  /** Opens sessions, until there are so many. */
  async open(count: number, isProxied = true): Promise<void> {
    const [first, { host, port }] = [this.#proxies.length, this.#service]
    const added = Array.from({ length: count - first }, (_, i) => first + i)
    for (const who of added) {
      const proxy = await CountingProxy.start(this.#service, protocols[this.lock.service])
      this.#proxies.push(proxy)
      this.driver.send(`open ${who} ${isProxied ? proxy.address : `${host}:${port}`} ${this.#timeout}`)
    }
    await this.driver.until('opened sessions', () => this.driver.haveAll('opened', added))
    this.driver.forget()
  }

  /** Makes contenders join until there are so many, one holder among them. */
  async grow(size: number): Promise<void> {
    await this.open(size)
    while (this.#queue.length < size) {
      const who = this.#queue.length
      this.#queue.push(who)
      await this.#join(who)
      if (who === 0) {
        await this.driver.until('first holder', () => this.driver.has('held', 0))
        this.#holder = 0
      }
      this.driver.forget()
    }
    await this.idle()
  }

  /** The holder releases, and joins again when another one has the lock. Returns the cost of the release. */
  async step(): Promise<PhaseCost> {
    const [driver, actor] = [this.driver, this.#holder]
    this.take()
    driver.forget()
    driver.send(`leave ${actor}`)
    await driver.until(
      `next holder of ${this.lock.name}`,
      () => driver.has('left', actor) && this.#holders().length > 0,
    )
    if (!this.lock.polls) await this.idle()
    const passed = this.take()
    const begun = driver.events.find(({ is }) => is === 'leaving')?.at ?? NaN
    const [mark, second] = this.#holders()
    if (mark === undefined || second !== undefined) throw new Error(`${this.lock.name}: two contenders got the lock`)
    this.#holder = mark.who
    await this.#join(actor)
    await this.idle()
    const woken = passed.filter((each, who) => who !== actor && each.framesReceived > 0).length
    return { ...sumOf(passed), woken, ms: mark.at - begun }
  }

  /** The traffic of all contenders in a time in which they wait, a second. */
  async rateOfWaiting(ms: number): Promise<Passed> {
    this.take()
    const begun = performance.now()
    await delay(ms)
    const seconds = (performance.now() - begun) / 1000
    const { framesSent, framesReceived, bytesSent, bytesReceived } = sumOf(this.take())
    const [sent, received] = [framesSent / seconds, framesReceived / seconds]
    return {
      framesSent: sent,
      framesReceived: received,
      bytesSent: bytesSent / seconds,
      bytesReceived: bytesReceived / seconds,
    }
  }

  delay(ms: number): void {
    for (const proxy of this.#proxies) proxy.delay = ms
  }

  cut(): void {
    for (const proxy of this.#proxies) proxy.isCut = true
  }

  take(): Passed[] {
    return this.#proxies.map(proxy => proxy.take())
  }

  /** Resolves when the traffic has ended: nothing has passed for a while, and all processes sleep. */
  async idle(): Promise<void> {
    if (this.lock.polls) return
    const total = () => this.#proxies.reduce((all, { passed }) => all + passed.bytesSent + passed.bytesReceived, 0)
    const silence = SILENCE + 4 * (this.#proxies[0]?.delay ?? 0)
    const pids = [this.driver.pid, this.#service.pid, ...descendantsOf(this.#service.pid)]
    let [last, since] = [total(), performance.now()]
    while (performance.now() - since < silence || !pids.every(isAsleep)) {
      await delay(INTERVAL)
      const now = total()
      if (now !== last) since = performance.now()
      last = now
    }
  }

  /** Kills the program, and closes the proxies. */
  async close(): Promise<void> {
    await this.driver.kill()
    await Promise.all(this.#proxies.map(proxy => proxy.close()))
  }

  #holders() {
    return this.driver.events.filter(({ is }) => is === 'held')
  }

  /** Resolves when the contender waits: its request to join has been answered, or the server keeps it. */
  async #join(who: number): Promise<void> {
    this.driver.send(`join ${who} ${this.lock.recipe} ${this.path} 0`)
    await this.driver.until('join', () => this.driver.has('joining', who))
    // The next one joins after it, so that the order is known.
    await this.#proxied(who)
  }

  /** Resolves when the contender has sent its first request of a join. */
  async #proxied(who: number): Promise<void> {
    const proxy = this.#proxies[who]
    const hasSent = () => proxy?.passed.bytesSent !== 0 || this.driver.has('held', who)
    // Throws if the program has ended.
    while (!(await this.driver.waitsFor(hasSent, 1)));
  }
}

function sumOf(all: readonly Passed[]): Passed {
  const sum = nothingPassed()
  for (const each of all) for (const key of Object.keys(sum) as (keyof Passed)[]) sum[key] += each[key]
  return sum
}
