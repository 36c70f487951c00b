// Acquire and release without another contender: times, and round trips.
import { median } from '../measure/statistics.ts'
import type { Driver } from '../peers/driver.ts'
import { World, type WorldOptions } from './world.ts'

export interface Times {
  count: number
  p50: number
  p99: number
}

export interface Uncontended {
  lock: string
  /** Acquire and release of a name that the contender has used before, ms. */
  warm: Times
  /** The same, of a name that nobody has used before. */
  cold: Times
  trips: { warm: number; cold: number }
}

export interface UncontendedOptions extends WorldOptions {
  cycles: number
}

const WARM_UP = 50
/** The delay of each direction while round trips are counted, ms. */
const DELAY = 20
/** The least of so many times counts, because a busy machine can only add to a time. */
const DELAYED_CYCLES = 6

export async function measureUncontended(options: UncontendedOptions): Promise<Uncontended> {
  const { lock, cycles } = options
  await using direct = await Session.open(options, false)
  await direct.cycles(WARM_UP, () => 'w')
  const warm = timesOf(await direct.cycles(cycles, () => 'w'))
  const cold = timesOf(await direct.cycles(cycles, i => `c${i}`))
  await using delayed = await Session.open(options, true)
  await delayed.cycles(2, () => 'w')
  delayed.world.delay(DELAY)
  const tripsOf = async (name: (i: number) => string) =>
    Math.round(Math.min(...(await delayed.cycles(DELAYED_CYCLES, name))) / (2 * DELAY))
  const trips = { warm: await tripsOf(() => 'w'), cold: await tripsOf(i => `d${i}`) }
  return { lock: lock.id, warm, cold, trips }
}

class Session implements AsyncDisposable {
  readonly world: World
  readonly #recipe: string

  private constructor(world: World, recipe: string) {
    this.world = world
    this.#recipe = recipe
  }

  static async open(options: WorldOptions, isProxied: boolean): Promise<Session> {
    const world = await World.start(options)
    await world.open(1, isProxied)
    return new Session(world, options.lock.recipe)
  }

  /** Returns the time of each acquire and release, ms. */
  async cycles(count: number, name: (i: number) => string): Promise<number[]> {
    const { driver, path } = this.world
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      driver.forget()
      driver.send(`join 0 ${this.#recipe} ${path}-${name(i)} 0`)
      await driver.until('held lock', () => driver.has('held', 0))
      driver.send('leave 0')
      await driver.until('release', () => driver.has('left', 0))
      times.push(between(driver, 'joining', 'held') + between(driver, 'leaving', 'left'))
    }
    return times
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.close()
  }
}

type Word = Driver['events'][number]['is']

const between = ({ events }: Driver, from: Word, to: Word): number => {
  const at = (word: Word) => events.find(({ is }) => is === word)?.at ?? NaN
  return at(to) - at(from)
}

export function timesOf(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b)
  return { count: times.length, p50: median(times), p99: sorted[Math.ceil(0.99 * times.length) - 1] ?? NaN }
}
