// Visits every state that a specification can reach.
import type { Specification, State } from './evaluator.ts'

export interface Exploration {
  readonly states: number
  /** The shortest run to a state in which one of the invariants is false; undefined if there is none. */
  readonly counterexample: { readonly invariant: string; readonly actions: readonly string[] } | undefined
  /** The actions that happened, without their arguments. */
  readonly actions: ReadonlySet<string>
}

interface Visit {
  readonly state: State
  readonly action: string
  readonly before: Visit | undefined
}

/** Breadth first, until an invariant is false. */
export function explore(specification: Specification, invariants: readonly string[]): Exploration {
  const seen = new Set<string>()
  const actions = new Set<string>()
  const queue: Visit[] = []
  const add = (visit: Visit) => {
    const key = specification.keyOf(visit.state)
    if (seen.has(key)) return
    seen.add(key)
    queue.push(visit)
  }
  for (const state of specification.initial()) add({ state, action: 'Init', before: undefined })
  for (const visit of queue) {
    const invariant = invariants.find(name => specification.valueOf(name, visit.state) !== true)
    if (invariant !== undefined)
      return { states: seen.size, counterexample: { invariant, actions: actionsTo(visit) }, actions }
    for (const { action, state } of specification.steps(visit.state)) {
      actions.add(action.replace(/\(.*/, ''))
      add({ state, action, before: visit })
    }
  }
  return { states: seen.size, counterexample: undefined, actions }
}

const actionsTo = ({ action, before }: Visit): string[] => [...(before === undefined ? [] : actionsTo(before)), action]

/** What was observed of a run: an action, or that a state is as this says. */
export type Observation = string | ((state: State) => boolean)

/**
 * Follows what was observed of a run. Before each observation, the specification may take any hidden actions.
 * @returns the index of the first observation that no run of the specification has; undefined if one has all
 */
export function firstStrange(
  specification: Specification,
  observations: readonly Observation[],
  isHidden: (action: string) => boolean,
): number | undefined {
  let possible = specification.initial()
  for (const [i, observed] of observations.entries()) {
    const reached = new Map(possible.map(state => [specification.keyOf(state), state]))
    const after = new Map<string, State>()
    // The loop also visits what is added here.
    for (const state of reached.values()) {
      if (typeof observed === 'function' && observed(state)) after.set(specification.keyOf(state), state)
      for (const { action, state: next } of specification.steps(state))
        if (action === observed) after.set(specification.keyOf(next), next)
        else if (isHidden(action)) reached.set(specification.keyOf(next), next)
    }
    if (after.size === 0) return i
    possible = [...after.values()]
  }
  return undefined
}
