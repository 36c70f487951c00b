// How the time given is shared out, and in which order things are done. Pure.
import type { Scenario } from './scenario.ts'

/** A scenario with so many sessions. */
export interface Task {
  scenario: Scenario
  size: number
}

/** A phase that has servers send more than this, in bytes, is for those who ask for it. */
export const TOO_HEAVY = 250e6
/** What a name in a list takes, and more than any other answer does. */
const BYTES_PER_NAME = 60

/** What all members together are sent in the phase of the theory, in bytes, and not more than a rough guess. */
export const weightOf = ({ scenario, size }: Task): number => BYTES_PER_NAME * size ** scenario.theory.bytes

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

/**
 * What the first of the stages may take of the time that is left. A step takes longer with more sessions, but needs
 * fewer repeats.
 */
export function shareOf(stages: readonly Stage[], timeLeft: number): number {
  const weight = ({ size, together, alone }: Stage) => Math.sqrt(size) * (together.length + alone.length)
  const [first = 0, ...others] = stages.map(weight)
  const all = others.reduce((total, each) => total + each, first)
  return all === 0 ? 0 : Math.max(0, timeLeft) * (first / all)
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
