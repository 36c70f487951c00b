// Takes every schedule of a world, to the end, depth first. A state that was reached before is not entered again.
import { isOver, lostWakeUp, stepsOf, type Step } from './steps.ts'
import { faultKinds, World, type FaultKind, type Scenario, type State } from './world.ts'

/** A world, and how far it is explored. */
export interface Exploration {
  readonly scenario: Scenario
  /** The most faults in one schedule. */
  readonly faults: number
  /** The kinds of these faults. Default: all. */
  readonly kinds?: readonly FaultKind[]
}

/** Names an exploration in one line. */
export const titleOf = ({ scenario, faults, kinds = faultKinds }: Exploration): string =>
  `${scenario.name}: ${faults === 0 ? 'no fault' : `${faults} of ${kinds.join(', ')}`}`

/** The numbers of the steps that are chosen, one after the other. 0 is the first step that is possible. */
export type Schedule = readonly number[]

export interface Report {
  /** How many schedules there are: the ways through the states to an end. */
  schedules: number
  /** The different states in which there was more than one step to choose from, and the ends. */
  states: number
  /** The steps that were taken from the states. */
  steps: number
  /** The most steps of one schedule, those after a known state not included. */
  longest: number
  failure: { schedule: Schedule; problems: readonly string[] } | undefined
  /** False if it was stopped before all states were entered. */
  isWhole: boolean
}

export interface ExploreOptions {
  /** False to enter states again that were reached before. Only for the check that this finds the same ends. */
  merges?: boolean
  /**
   * False to try what happens in different processes in each order too. Only for the check that this finds the same ends.
   */
  localFirst?: boolean
  /** Called after each state that was entered. Returns true to stop: the report is then not that of all schedules. */
  onState?: (report: Report) => boolean
  /** Gets how each schedule ended. */
  onEnd?: (end: string) => void
}

/** A state on the way, its steps, and how many of them were taken. */
interface Branch {
  readonly state: State
  /** Undefined if there is only one step. */
  readonly key: string | undefined
  readonly steps: readonly Step[]
  taken: number
  schedules: number
}

/** Explores until the end, or until a schedule fails. */
export async function explore(exploration: Exploration, options: ExploreOptions = {}): Promise<Report> {
  // Errors are created often and shown rarely. Their stacks took a twentieth of the time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await exploreAll(exploration, options)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

async function exploreAll(exploration: Exploration, options: ExploreOptions): Promise<Report> {
  const { merges = true, localFirst = true, onState, onEnd } = options
  const world = await World.of(exploration.scenario)
  const kinds = kindsOf(exploration)
  const report: Report = {
    ...{ schedules: 0, states: 0, steps: 0, longest: 0 },
    ...{ failure: undefined, isWhole: false },
  }
  /** The number of schedules from each state to an end, by the key of the state. */
  const seen = new Map<string, number>()
  const way: Branch[] = []
  const enter = async (state: State): Promise<boolean> => {
    const steps = stepsOf(world, state, kinds, localFirst)
    const key = steps.length === 1 ? undefined : world.keyOf(state)
    const known = key === undefined || !merges ? undefined : seen.get(key)
    const last = way.at(-1)
    if (known !== undefined && last !== undefined) {
      last.schedules += known
      return false
    }
    if (key !== undefined) report.states++
    const isEnd = steps.length === 0
    way.push({ state, key, steps, taken: 0, schedules: isEnd ? 1 : 0 })
    report.longest = Math.max(report.longest, way.length - 1)
    if (!isEnd) return false
    const problems = isOver(state) ? await world.finish(state) : [lostWakeUp(world, state)]
    onEnd?.(world.endOf(state))
    if (problems.length > 0) report.failure = { schedule: scheduleOf(way), problems }
    return problems.length > 0
  }
  let isStopped = await enter(await world.begin(exploration.faults))
  for (let branch = way.at(-1); branch !== undefined && !isStopped; branch = way.at(-1)) {
    const step = branch.steps[branch.taken]
    if (step === undefined) {
      way.pop()
      const { key, schedules } = branch
      if (key !== undefined) seen.set(key, schedules)
      const before = way.at(-1)
      if (before === undefined) Object.assign(report, { schedules, isWhole: true })
      else before.schedules += schedules
      continue
    }
    branch.taken++
    report.steps++
    isStopped = (await enter(await step.take())) || onState?.(report) === true
  }
  return report
}

/** The choices on the way, where there was more than one step. */
const scheduleOf = (way: readonly Branch[]): Schedule =>
  way.filter(({ steps }) => steps.length > 1).map(({ taken }) => taken - 1)

/** The faults of this world. */
export const kindsOf = ({ scenario, kinds = faultKinds }: Exploration): ReadonlySet<FaultKind> =>
  new Set(kinds.filter(kind => scenario.without?.includes(kind) !== true))
