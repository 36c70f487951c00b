// Takes every schedule of a world, to the end: depth first, from the start each time, by the list of choices. A state that
// was reached before is not entered again.
import { faultKinds, World, type FaultKind, type Scenario, type Step } from './world.ts'

/** How far an exploration goes. */
export interface Bound {
  /** The most faults in one schedule. */
  readonly faults: number
  readonly kinds?: readonly FaultKind[]
}

/** The numbers of the steps that are chosen, one after the other. 0 is the first step that is possible. */
export type Schedule = readonly number[]

export interface Report {
  /** The schedules that were taken to their end. */
  complete: number
  /** The schedules that ended in a state that was reached before. */
  merged: number
  /** The different states in which there was more than one step to choose from, and the ends. */
  states: number
  /** The steps that were taken, those of the way to a new choice included. */
  steps: number
  /** The most steps of one schedule. */
  longest: number
  /** The fingerprints of the different ends. */
  readonly ends: Set<number>
  failure: { schedule: Schedule; problems: readonly string[] } | undefined
}

export interface ExploreOptions {
  /** False to enter states again that were reached before. Only for the check that this finds the same ends. */
  merges?: boolean
  /**
   * False to try what happens in different processes in each order too. Only for the check that this finds the same ends.
   */
  localFirst?: boolean
  /** Called after each schedule. Returns true to stop: the report is then not that of all schedules. */
  onSchedule?: (report: Report) => boolean
}

/** A place at which there was more than one step. */
interface Branch {
  readonly count: number
  chosen: number
}

/** Explores until the end, or until a schedule fails. */
export async function explore(scenario: Scenario, bound: Bound, options: ExploreOptions = {}): Promise<Report> {
  // Errors are created often and shown rarely. Their stacks took a twentieth of the time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await exploreAll(scenario, bound, options)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

async function exploreAll(scenario: Scenario, bound: Bound, options: ExploreOptions): Promise<Report> {
  const { merges = true, localFirst = true, onSchedule } = options
  const report: Report = {
    complete: 0,
    merged: 0,
    states: 0,
    steps: 0,
    longest: 0,
    ends: new Set(),
    failure: undefined,
  }
  const seen = new Set<number>()
  const branches: Branch[] = []
  do {
    const run = new Run(await World.open(scenario), bound, localFirst)
    let isNew = true
    let depth = 0
    for (let { steps } = run; ; { steps } = run) {
      if (steps.length !== 1 && depth++ >= branches.length) {
        const state = run.fingerprint
        isNew = !merges || !seen.has(state)
        if (!isNew) break
        seen.add(state)
        if (steps.length > 0) branches.push({ count: steps.length, chosen: 0 })
      }
      if (steps.length === 0) break
      await run.take(steps.length > 1 ? (branches[depth - 1] as Branch).chosen : 0)
    }
    report.states = seen.size
    report.steps += run.taken.length
    report.longest = Math.max(report.longest, run.taken.length)
    if (isNew) {
      report.ends.add(run.fingerprint)
      const problems = await run.world.finish()
      report.complete++
      if (problems.length > 0) report.failure = { schedule: run.chosen, problems }
    } else report.merged++
    if (report.failure !== undefined || onSchedule?.(report) === true) return report
  } while (advance(branches))
  return report
}

/** Goes to the next schedule. Returns false if there is none. */
function advance(branches: Branch[]): boolean {
  for (let last = branches.at(-1); last !== undefined; last = branches.at(-1)) {
    if (++last.chosen < last.count) return true
    branches.pop()
  }
  return false
}

/** A world on its way through one schedule. */
export class Run {
  readonly world: World
  readonly taken: Step[] = []
  readonly chosen: number[] = []
  readonly #kinds: ReadonlySet<FaultKind>
  readonly #localFirst: boolean
  #faultsLeft: number
  #steps: Step[] | undefined

  constructor(world: World, { faults, kinds = faultKinds }: Bound, localFirst = true) {
    this.world = world
    this.#localFirst = localFirst
    this.#faultsLeft = faults
    this.#kinds = new Set(kinds.filter(kind => world.scenario.without?.includes(kind) !== true))
  }

  /** The steps that are possible now. Empty at the end. */
  get steps(): readonly Step[] {
    return (this.#steps ??= this.world.steps(this.#faultsLeft > 0 ? this.#kinds : none, this.#localFirst))
  }

  get fingerprint(): number {
    return this.world.fingerprint(String(this.#faultsLeft))
  }

  async take(choice: number): Promise<void> {
    const step = this.steps[choice]
    if (step === undefined) throw new Error(`step ${choice} of ${this.steps.length} is not possible here`)
    this.taken.push(step)
    if (this.steps.length > 1) this.chosen.push(choice)
    if (step.fault !== undefined) this.#faultsLeft--
    this.#steps = undefined
    await this.world.take(step)
  }
}

const none: ReadonlySet<FaultKind> = new Set()
