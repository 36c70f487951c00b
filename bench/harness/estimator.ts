// Estimates the duration of the next measurement from the durations of the previous ones.
import { listBytes, type Task } from './plan.ts'

// The efforts of activities, in units of the effort of one byte of a list. They are rough guesses, and only their
// ratios matter.
const BASE_EFFORT = 1e6
const SESSION_EFFORT = 20e3
const CONNECTION_EFFORT = 40e3
const REPORT_EFFORT = 30e6

/** The initial speed, measured on two otherwise idle cores of a machine from 2020. */
const FIRST_GUESS = { ms: 200, effort: 20e6 }
/** Each new record multiplies the weight of earlier ones by this, because the load of the machine changes. */
const DECAY = 0.9
/**
 * The longest time until a silent session expires, as a multiple of its timeout. It expires at the server's second
 * check at the latest.
 */
const EXPIRY_FACTOR = 1.5

export type Activity = 'gather' | 'step' | 'leave'

export class Estimator {
  #ms = FIRST_GUESS.ms
  #effort = FIRST_GUESS.effort

  /** Records that an activity took `ms`. */
  record(activity: Activity, task: Task, ms: number): void {
    this.#ms = DECAY * this.#ms + Math.max(0, ms - waitOf(activity, task))
    this.#effort = DECAY * this.#effort + effortOf(activity, task)
  }

  /** Returns the expected duration of one activity, ms. */
  estimate(activity: Activity, task: Task): number {
    return this.#msOf(effortOf(activity, task)) + waitOf(activity, task)
  }

  /** Returns the expected duration of a task with this number of steps, from gathering to leaving, ms. */
  estimateTask(task: Task, steps: number): number {
    return this.estimate('gather', task) + steps * this.estimate('step', task) + this.estimate('leave', task)
  }

  /** Returns the expected duration of opening shared sessions, ms. */
  estimateOpening(sessions: number): number {
    return this.#msOf(sessions * CONNECTION_EFFORT)
  }

  /** Returns the expected duration of the work after the last measurement, ms. */
  estimateEnd(sessions: number): number {
    return this.#msOf(REPORT_EFFORT + sessions * SESSION_EFFORT)
  }

  #msOf(effort: number): number {
    return (effort * this.#ms) / this.#effort
  }
}

function effortOf(activity: Activity, { scenario, size }: Task): number {
  const { phases, theory, ownSessions } = scenario
  const allSessions = BASE_EFFORT + size * SESSION_EFFORT
  if (activity === 'leave') return allSessions
  if (activity === 'step') return phases.length * (allSessions + listBytes(size, theory.bytes))
  return allSessions + listBytes(size, theory.gathering) + (ownSessions === undefined ? 0 : size * CONNECTION_EFFORT)
}

const waitOf = (activity: Activity, { scenario: { isSlow, ownSessions } }: Task): number =>
  activity === 'step' && isSlow === true ? EXPIRY_FACTOR * (ownSessions?.timeout ?? 0) : 0
