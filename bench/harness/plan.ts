// How the time given is shared out, and in which order things are done. Pure.
import type { Scenario } from './scenario.ts'
import { sum } from '../measure/statistics.ts'

/** A scenario with so many sessions. */
export interface Task {
  scenario: Scenario
  size: number
}

/** What has servers send more than this at once, in bytes, is for those who ask for it. */
export const TOO_HEAVY = 250e6
/** What a name in a list takes, and more than any other answer does. */
const BYTES_PER_NAME = 60

/** What all members together are sent where that grows with a power of their number, in bytes: not more than a rough guess. */
export const listsIn = (size: number, power: number): number => BYTES_PER_NAME * size ** power

/** The most that all members together are sent at once: when they gather, or in the phase of the theory. */
export const weightOf = ({ scenario: { theory }, size }: Task): number =>
  listsIn(size, Math.max(theory.bytes, theory.gathering))

/** Those of one size side by side, so that drift hits them alike; few sessions first, so that sessions are opened when they are needed. */
export interface Stage {
  size: number
  /** On the same sessions, in turns. */
  together: Scenario[]
  /** Each on sessions of its own, which do not outlive it. */
  alone: Scenario[]
}

export const stagesOf = (scenarios: readonly Scenario[], sizes: readonly number[], most = TOO_HEAVY): Stage[] =>
  sizes.map(size => {
    const bearable = scenarios.filter(scenario => weightOf({ scenario, size }) <= most)
    return {
      size,
      together: bearable.filter(({ ownSessions }) => ownSessions === undefined),
      alone: bearable.filter(({ ownSessions }) => ownSessions !== undefined),
    }
  })

/** How many sessions are open at a time, at most: shared ones stay open, and a conductor has one too. */
export function peakOf(stages: readonly Stage[]): number {
  let [shared, peak] = [0, 0]
  for (const { size, together, alone } of stages) {
    if (together.length > 0) shared = Math.max(shared, size + 1)
    peak = Math.max(peak, shared + (alone.length > 0 ? size + 1 : 0))
  }
  return peak
}

/** Every task of a stage. */
export const tasksOf = ({ size, together, alone }: Stage): Task[] =>
  [...together, ...alone].map(scenario => ({ scenario, size }))

/** What can be done in the time that is left: without the ones that take longest, if need be. */
export function affordable(stage: Stage, timeLeft: number, timeFor: (task: Task) => number): Stage {
  const chosen = new Set<Scenario>()
  let left = timeLeft
  for (const task of tasksOf(stage).sort((a, b) => timeFor(a) - timeFor(b))) {
    left -= timeFor(task)
    if (left >= 0) chosen.add(task.scenario)
  }
  const isChosen = (scenario: Scenario) => chosen.has(scenario)
  return { ...stage, together: stage.together.filter(isChosen), alone: stage.alone.filter(isChosen) }
}

/** The part of the time that is kept free for what is to come, at most: it is foretold, and not known. */
const KEPT_FREE = 0.7

/**
 * What the first of the stages may take of the time that is left: the least that it takes, while the others keep theirs, and
 * a part of the rest that grows with the number of sessions. A step takes longer with more of them, but needs fewer repeats.
 */
export function shareOf(stages: readonly Stage[], timeLeft: number, leastFor: (stage: Stage) => number): number {
  const left = Math.max(0, timeLeft)
  const kept = shareOfFirst(stages.map(leastFor))
  const weighed = shareOfFirst(stages.map(stage => Math.sqrt(stage.size) * tasksOf(stage).length))
  const free = Math.min(kept.all, KEPT_FREE * left)
  return free * kept.share + (left - free) * weighed.share
}

function shareOfFirst(weights: readonly number[]): { all: number; share: number } {
  const all = sum(weights)
  return { all, share: all === 0 ? 0 : (weights[0] ?? 0) / all }
}

/** In an order of chance, the same for the same random numbers (Fisher and Yates). */
export function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const order = [...all]
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[order[i], order[j]] = [order[j] as T, order[i] as T]
  }
  return order
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }
}
