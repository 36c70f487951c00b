// Cuts between the servers of an ensemble, while sessions hold locks through them: who believes to hold a lock, and when.
import type { Client } from '../../src/index.ts'
import { Mutex, type Held } from '../../src/recipes/index.ts'
import { oneOf, type Random } from '../support/seeded-random.ts'

const ways = ['both', 'incoming', 'outgoing'] as const
export type Way = (typeof ways)[number]

/** What happens to a server. A `blip` is a cut that heals for a moment. */
const faults = ['cut', 'delay', 'delay and cut', 'blip'] as const
type Fault = (typeof faults)[number]

/** An ensemble whose links a schedule cuts, and its clock. All times are in milliseconds. */
export interface Stage {
  readonly servers: readonly string[]
  /** The position of the leader in {@link servers}. Waits until there is one with two followers. */
  leader(): Promise<number>
  open(servers: readonly string[], sessionTimeout: number, asksLeader: boolean): Promise<Client>
  cut(server: number, way: Way): void
  delay(server: number, ms: number): void
  heal(): void
  now(): number
  wait(ms: number): Promise<void>
  /** Lets time pass until the promise settles. */
  settled<T>(promise: Promise<T>): Promise<T>
}

export interface Cut {
  readonly fault: Fault
  readonly way: Way
  readonly isLeader: boolean
  readonly tick: number
  readonly syncLimit: number
}

/** What became of one lock after a cut. */
export interface Outcome extends Cut {
  readonly timeout: number
  /** How long two clients believed to hold the lock. */
  readonly overlap: number
  readonly isKept: boolean
  readonly reconnects: number
}

export interface Schedule {
  readonly random: Random
  readonly tick: number
  readonly syncLimit: number
  /** The session timeouts of the holders, each at one server. */
  readonly timeouts: readonly number[]
  readonly asksLeader: boolean
  /** The name of the directory of the locks. */
  readonly name: string
}

/** Executes one cut, and resolves when each lock either has its next holder or is certain to be kept. */
export async function cutOnce(stage: Stage, schedule: Schedule): Promise<Outcome[]> {
  const { random, tick, syncLimit, timeouts, asksLeader, name } = schedule
  stage.heal()
  const leader = await stage.leader()
  const isLeader = random() < 1 / 3
  const victim = isLeader
    ? leader
    : (leader + 1 + Math.floor(random() * (stage.servers.length - 1))) % stage.servers.length
  const cut: Cut = { fault: oneOf(random, faults), way: oneOf(random, ways), isLeader, tick, syncLimit }
  const others = stage.servers.filter((_, i) => i !== victim)
  const begun = timeouts.map(async (timeout, i) => {
    const holder = await stage.open([stage.servers[victim] as string, ...others], timeout, asksLeader)
    const rival = await stage.open(others, Math.max(...timeouts), asksLeader)
    return Rivalry.begin(stage, holder, rival, `/${name}-${i}`)
  })
  const locks = await stage.settled(Promise.all(begun))
  await stage.wait(random() * Math.max(...timeouts))
  await inject(stage, victim, cut, random)
  // A server that is cut off gives up after syncLimit ticks, then the sessions expire.
  const end = stage.now() + (syncLimit + 4) * tick + Math.max(...timeouts)
  while (stage.now() < end && locks.some(lock => !lock.isDecided)) await stage.wait(Math.min(500, end - stage.now()))
  stage.heal()
  await stage.leader()
  const ended = locks.map(async (lock, i) => ({ ...cut, timeout: timeouts[i] as number, ...(await lock.end()) }))
  return stage.settled(Promise.all(ended))
}

async function inject(
  stage: Stage,
  victim: number,
  { fault, way, tick, syncLimit }: Cut,
  random: Random,
): Promise<void> {
  // A delay of syncLimit ticks has the effect of a cut.
  const delay = random() * (syncLimit - 1) * tick
  if (fault.startsWith('delay')) stage.delay(victim, delay)
  if (fault === 'delay') return
  if (fault === 'delay and cut') await stage.wait(random() * 2 * delay)
  stage.cut(victim, way)
  if (fault !== 'blip') return
  await stage.wait(random() * (syncLimit - 1) * tick)
  stage.heal()
  await stage.wait(random() * tick)
  stage.cut(victim, way)
}

/** A holder of a lock, and the next in its queue. */
class Rivalry {
  readonly #stage: Stage
  readonly #holder: Client
  readonly #rival: Client
  readonly #held: Held
  readonly #next: Promise<Held>
  readonly #connects: number
  #abortedAt = Infinity
  #grantedAt = Infinity
  #wasLost = false

  private constructor(stage: Stage, holder: Client, rival: Client, held: Held, path: string) {
    this.#stage = stage
    this.#holder = holder
    this.#rival = rival
    this.#held = held
    this.#connects = holder.stats.connects
    held.signal.addEventListener('abort', () => (this.#abortedAt = stage.now()), { once: true })
    this.#next = new Mutex(rival, path).acquire().then(next => {
      // Reading the signal makes it abort if the lease has ended and no timer has fired yet.
      this.#wasLost = held.signal.aborted
      this.#grantedAt = stage.now()
      return next
    })
    this.#next.catch(() => undefined)
  }

  static async begin(stage: Stage, holder: Client, rival: Client, path: string): Promise<Rivalry> {
    return new Rivalry(stage, holder, rival, await new Mutex(holder, path).acquire(), path)
  }

  /** True if the holder has lost the lock, and the next one has it. */
  get isDecided(): boolean {
    return this.#grantedAt < Infinity && this.#abortedAt < Infinity
  }

  async end(): Promise<Pick<Outcome, 'overlap' | 'isKept' | 'reconnects'>> {
    const isKept = this.#abortedAt === Infinity && this.#grantedAt === Infinity
    const until = Math.min(this.#abortedAt, this.#stage.now())
    const overlap = this.#grantedAt < Infinity && !this.#wasLost ? until - this.#grantedAt : 0
    const reconnects = this.#holder.stats.connects - this.#connects
    await this.#held.release()
    // The session of the next one may have ended too.
    await this.#next.then(
      next => next.release(),
      () => undefined,
    )
    await Promise.all([this.#holder.close(), this.#rival.close()])
    return { overlap, isKept, reconnects }
  }
}

export const kindOf = ({ fault, way, isLeader }: Cut): string =>
  `${isLeader ? 'leader' : 'follower'}, ${fault}${fault === 'delay' ? '' : `, ${way}`}`

/** Returns a table of the outcomes, a line for each kind of cut. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const kinds = new Map<string, Outcome[]>()
  for (const outcome of outcomes) {
    const kind = kindOf(outcome)
    kinds.set(kind, [...(kinds.get(kind) ?? []), outcome])
  }
  return [...kinds]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, all]) => `${kind.padEnd(34)} ${summaryOf(all)}`)
    .concat(`${'all'.padEnd(34)} ${summaryOf(outcomes)}`)
    .join('\n')
}

function summaryOf(outcomes: readonly Outcome[]): string {
  const overlaps = outcomes.filter(({ overlap }) => overlap > 0)
  const longest = Math.round(Math.max(0, ...overlaps.map(({ overlap }) => overlap)))
  const kept = outcomes.filter(({ isKept }) => isKept).length
  const reconnects = outcomes.reduce((sum, each) => sum + each.reconnects, 0)
  return `${outcomes.length} locks: ${kept} kept, two holders ${overlaps.length} times, at most ${longest} ms; ${reconnects} reconnects`
}
