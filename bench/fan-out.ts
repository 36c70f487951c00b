// One recipe with N contenders: what a release and a join cause, and how long a hand-over takes, with always N - 1
// waiting.
import type { Client } from '../src/index.ts'
import { Contention } from './contention.ts'
import { isAnotherDue, type Limits } from './plan.ts'
import { quiet } from './quiet.ts'
import type { Recipe } from './recipes.ts'
import { minus, type Counts, type Meter } from './tap.ts'

/** A step that was fenced off: just what was caused, but with the fences' own work in its time. */
export interface CountedStep {
  release: Counts
  join: Counts
}

/** A step at full speed. */
export interface TimedStep {
  /** From the call of release() until the next contender's acquire() resolved. */
  handOverMs: number
  release: Timing
  join: Timing
}

export interface Timing {
  /** Until the last frame that it caused. */
  ms: number
  clientCpuMs: number
  /** Undefined where the server is not ours. */
  serverCpuMs: number | undefined
}

export interface Cell {
  recipe: string
  contenders: number
  counted: CountedStep[]
  timed: TimedStep[]
  /**
   * Did the timed steps together move just as many frames as the counted ones had one expect? Undefined while they run.
   */
  asExpected?: boolean
}

export interface Conditions {
  recipe: Recipe
  sessions: readonly Client[]
  /** Exists and is empty. */
  directory: string
  fencePath: string
  meter: Meter
  serverCpuSeconds: () => number | undefined
  /** On the clock of `performance.now()`. */
  begins: number
  ends: number
  atLast: number
  signal: AbortSignal
  onFailure: (error: unknown) => void
  onProgress: (what: string) => void
}

const WARM_UP = { share: 0.1, least: 1, most: 200 }
const COUNTED = { share: 0.35, least: 3, most: 10 }
const TIMED = { share: 1, least: 3, most: 1000 }

/**
 * A phase that moves fewer frames than the counted ones did is given so long before fences decide whether it is over.
 */
const PATIENCE = 15_000

export class FanOut {
  readonly #given: Conditions
  readonly #contention: Contention

  constructor(given: Conditions) {
    this.#given = given
    this.#contention = new Contention(given.recipe, given.sessions, given.directory, given.onFailure)
  }

  /** Fills the cell, which holds what there is whenever this is given up. */
  async measure(cell: Cell): Promise<void> {
    const { meter, onProgress } = this.#given
    onProgress('queueing')
    await this.#contention.gather()
    await this.#quiet()
    await this.#repeat('warming up', WARM_UP, () => this.#countedStep())
    await this.#repeat('counting', COUNTED, async () => cell.counted.push(await this.#countedStep()))

    const expected = { release: constantFrames(cell, 'release'), join: constantFrames(cell, 'join') }
    const before = meter.frames
    await this.#repeat('timing', TIMED, async () => cell.timed.push(await this.#timedStep(expected)))
    await this.#quiet()
    cell.asExpected = meter.frames - before === cell.timed.length * ((expected.release ?? NaN) + (expected.join ?? NaN))

    onProgress('leaving')
    await this.#contention.disperse()
  }

  async #repeat(what: string, amount: typeof TIMED, step: () => Promise<unknown>): Promise<void> {
    const { begins, ends, atLast, signal } = this.#given
    const limits: Limits = { ...amount, until: begins + (ends - begins) * amount.share, atLast }
    for (let done = 0; isAnotherDue(done, performance.now(), limits); done++) {
      signal.throwIfAborted()
      this.#given.onProgress(`${what}, step ${done + 1}`)
      await step()
    }
  }

  async #countedStep(): Promise<CountedStep> {
    const { meter } = this.#given
    const start = { ...meter.recipe }
    await this.#contention.handOver()
    await this.#quiet()
    const middle = { ...meter.recipe }
    this.#contention.rejoin()
    await this.#quiet()
    return { release: minus(middle, start), join: minus(meter.recipe, middle) }
  }

  /** Over as soon as what the counted steps foretell has passed, so that no fence is in the way and in the figures. */
  async #timedStep(expected: Record<'release' | 'join', number | undefined>): Promise<TimedStep> {
    let handOverMs = NaN
    const release = await this.#timed(expected.release, async () => {
      handOverMs = await this.#contention.handOver()
    })
    const join = await this.#timed(expected.join, () => this.#contention.rejoin())
    return { handOverMs, release, join }
  }

  async #timed(expected: number | undefined, act: () => Promise<void> | void): Promise<Timing> {
    const { meter, serverCpuSeconds } = this.#given
    const frames = meter.frames
    const [server, client, begun] = [serverCpuSeconds(), process.cpuUsage(), performance.now()]
    await act()
    const passed = expected !== undefined && (await meter.reaches(frames + expected, PATIENCE))
    if (!passed) await this.#quiet()
    const { user, system } = process.cpuUsage(client)
    const serverAfter = serverCpuSeconds()
    return {
      ms: meter.lastFrameAt - begun,
      clientCpuMs: (user + system) / 1000,
      serverCpuMs: server === undefined || serverAfter === undefined ? undefined : (serverAfter - server) * 1000,
    }
  }

  #quiet(): Promise<void> {
    const { sessions, fencePath, meter } = this.#given
    return quiet(sessions, fencePath, meter)
  }
}

/** How many frames a phase moves, where all counted steps agree on that. */
function constantFrames({ counted }: Cell, phase: 'release' | 'join'): number | undefined {
  const [first, ...others] = counted.map(step => step[phase].framesSent + step[phase].framesReceived)
  return others.every(frames => frames === first) ? first : undefined
}
