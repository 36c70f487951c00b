// How long things will take, from how long the ones before took. Pure but for what it remembers.
import { listsIn, type Task } from './plan.ts'

/** In bytes of a list that take as long: rough guesses, of which only the proportions matter. */
const OF_ANYTHING = 1e6
const OF_A_SESSION = 20e3
const OF_A_CONNECTION = 40e3
const OF_THE_REPORT = 30e6

/** Two cores of 2020 that do nothing else. */
const FIRST_GUESS = { ms: 200, effort: 20e6 }
/** What is long ago was on another machine, as it were: others come and go. */
const MEMORY = 0.9
/** A session that is silent expires at the second look of the server, at the latest. */
const TO_EXPIRE = 1.5

export type Deed = 'gather' | 'step' | 'leave'

export class Foresight {
  #ms = FIRST_GUESS.ms
  #effort = FIRST_GUESS.effort

  /** What was done, and how long it took, ms. */
  took(deed: Deed, task: Task, ms: number): void {
    this.#ms = MEMORY * this.#ms + Math.max(0, ms - waitOf(deed, task))
    this.#effort = MEMORY * this.#effort + effortOf(deed, task)
  }

  /** In ms. */
  of(deed: Deed, task: Task): number {
    return this.#msOf(effortOf(deed, task)) + waitOf(deed, task)
  }

  /** From the first to the last of it, with so many steps, ms. */
  ofAll(task: Task, steps: number): number {
    return this.of('gather', task) + steps * this.of('step', task) + this.of('leave', task)
  }

  /** Opening so many sessions that are shared, ms. */
  ofOpening(sessions: number): number {
    return this.#msOf(sessions * OF_A_CONNECTION)
  }

  /** What follows the last measurement, ms. */
  ofTheEnd(sessions: number): number {
    return this.#msOf(OF_THE_REPORT + sessions * OF_A_SESSION)
  }

  #msOf(effort: number): number {
    return (effort * this.#ms) / this.#effort
  }
}

function effortOf(deed: Deed, { scenario, size }: Task): number {
  const { phases, theory, ownSessions } = scenario
  const everyone = OF_ANYTHING + size * OF_A_SESSION
  if (deed === 'leave') return everyone
  if (deed === 'step') return phases.length * (everyone + listsIn(size, theory.bytes))
  return everyone + listsIn(size, theory.gathering) + (ownSessions === undefined ? 0 : size * OF_A_CONNECTION)
}

const waitOf = (deed: Deed, { scenario: { isSlow, ownSessions } }: Task): number =>
  deed === 'step' && isSlow === true ? TO_EXPIRE * (ownSessions?.timeout ?? 0) : 0
