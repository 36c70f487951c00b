// Plans a run: how the time is divided, and in which order the scenarios are measured. Pure.
import type { Scenario } from './scenario.ts'
import { sum } from '../measure/statistics.ts'

/** A scenario with a number of sessions. */
export interface Task {
  scenario: Scenario
  size: number
}

/** A task that makes the server send more than this many bytes at once is measured only with --all. */
export const TOO_HEAVY = 250e6
/** The size of one name in a list of children, in bytes. Lists outweigh all other replies. */
const BYTES_PER_NAME = 60

/** Returns a rough estimate of the bytes sent to all `size` members together, if they grow with `size ** power`. */
export const listBytes = (size: number, power: number): number => BYTES_PER_NAME * size ** power

/**
 * Returns the largest number of bytes sent to all members at once: while they gather, or in the phase that is plotted.
 */
export const weightOf = ({ scenario: { theory }, size }: Task): number =>
  listBytes(size, Math.max(theory.bytes, theory.gathering))

/**
 * Scenarios of one size. Those on shared sessions are measured in turns, so that drift of the machine affects them
 * equally.
 */
export interface Stage {
  size: number
  /** Measured in turns, on shared sessions. */
  interleaved: Scenario[]
  /** Measured one after the other, each on its own sessions, which end with it. */
  separate: Scenario[]
}

/**
 * Returns the stages of a run in the order in which they are measured. The primary scenarios at the largest size come
 * first, because a run that ends early still needs them for its conclusion. Then the sizes ascend.
 */
export function stagesOf(scenarios: readonly Scenario[], sizes: readonly number[], most = TOO_HEAVY): Stage[] {
  const largest = Math.max(...sizes)
  const isFirst = ({ scenario, size }: Task) => scenario.isPrimary === true && size === largest
  const tasks = sizes
    .flatMap(size => scenarios.map(scenario => ({ scenario, size })))
    .filter(task => weightOf(task) <= most)
  const others = tasks.filter(task => !isFirst(task))
  return [
    stageOf(largest, tasks.filter(isFirst)),
    ...sizes.map(size =>
      stageOf(
        size,
        others.filter(task => task.size === size),
      ),
    ),
  ].filter(stage => tasksOf(stage).length > 0)
}

function stageOf(size: number, tasks: readonly Task[]): Stage {
  const scenarios = tasks.map(({ scenario }) => scenario)
  return {
    size,
    interleaved: scenarios.filter(({ ownSessions }) => ownSessions === undefined),
    separate: scenarios.filter(({ ownSessions }) => ownSessions !== undefined),
  }
}

/** Returns the largest number of open sessions. Shared sessions stay open, and one more is for the trigger session. */
export function peakSessionsOf(stages: readonly Stage[]): number {
  let [shared, peak] = [0, 0]
  for (const { size, interleaved, separate } of stages) {
    if (interleaved.length > 0) shared = Math.max(shared, size + 1)
    peak = Math.max(peak, shared + (separate.length > 0 ? size + 1 : 0))
  }
  return peak
}

export const tasksOf = ({ size, interleaved, separate }: Stage): Task[] =>
  [...interleaved, ...separate].map(scenario => ({ scenario, size }))

/**
 * Returns the primary scenarios of the stage, and the others that fit into the remaining time. Leaves out the longest
 * tasks first.
 */
export function affordable(stage: Stage, timeLeft: number, timeFor: (task: Task) => number): Stage {
  const chosen = new Set<Scenario>()
  const rank = (task: Task) => (task.scenario.isPrimary === true ? -1 : timeFor(task))
  let left = timeLeft
  for (const task of tasksOf(stage).sort((a, b) => rank(a) - rank(b))) {
    left -= timeFor(task)
    if (left >= 0 || task.scenario.isPrimary === true) chosen.add(task.scenario)
  }
  const isChosen = (scenario: Scenario) => chosen.has(scenario)
  return { ...stage, interleaved: stage.interleaved.filter(isChosen), separate: stage.separate.filter(isChosen) }
}

/** Largest part of the time that is reserved for later stages, because their durations are only estimated. */
const RESERVED = 0.7

/**
 * Returns the share of the remaining time for the first stage: its minimum, and a part of the rest. The rest is the
 * remaining time without the minimums of all stages. The part grows with the number of sessions, because a step takes
 * longer with more of them. It grows with their square root only, because larger sizes need fewer repeats.
 */
export function shareOf(stages: readonly Stage[], timeLeft: number, leastFor: (stage: Stage) => number): number {
  const left = Math.max(0, timeLeft)
  const minimum = shareOfFirst(stages.map(leastFor))
  const weighted = shareOfFirst(stages.map(stage => Math.sqrt(stage.size) * tasksOf(stage).length))
  const reserved = Math.min(minimum.all, RESERVED * left)
  return reserved * minimum.share + (left - reserved) * weighted.share
}

function shareOfFirst(weights: readonly number[]): { all: number; share: number } {
  const all = sum(weights)
  return { all, share: all === 0 ? 0 : (weights[0] ?? 0) / all }
}
