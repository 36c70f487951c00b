// A schedule that fails, made as short as possible, and told in sentences.
import { Run, type Bound, type Schedule } from './explorer.ts'
import { World, type Scenario } from './world.ts'

/** One schedule, taken to its end. After the choices that it names, the first possible step is always chosen. */
interface Outcome {
  readonly problems: readonly string[]
  /** The choices, without the last ones that are 0. */
  readonly schedule: Schedule
  readonly faults: number
  readonly steps: number
  readonly sentences: readonly string[]
}

/** Returns undefined if the world has no such schedule. */
export async function take(scenario: Scenario, bound: Bound, schedule: Schedule): Promise<Outcome | undefined> {
  const run = new Run(await World.open(scenario), bound)
  const sentences: string[] = []
  let next = 0
  for (let { steps } = run; steps.length > 0; { steps } = run) {
    const choice = steps.length > 1 ? (schedule[next++] ?? 0) : 0
    const step = steps[choice]
    if (step === undefined) return undefined
    sentences.push(`${run.world.time.now - START} ms  ${step.fault === undefined ? '' : 'FAULT: '}${step.what()}`)
    await run.take(choice)
  }
  const faults = run.taken.filter(({ fault }) => fault !== undefined).length
  const last = run.chosen.findLastIndex(choice => choice > 0)
  const problems = await run.world.finish()
  return { problems, schedule: run.chosen.slice(0, last + 1), faults, steps: run.taken.length, sentences }
}

const START = 1000

/** Leaves out choices as long as the same rule is violated. Returns the simplest schedule found. */
export async function minimised(scenario: Scenario, bound: Bound, schedule: Schedule): Promise<Outcome> {
  let best = await take(scenario, bound, schedule)
  if (best === undefined || best.problems.length === 0) throw new Error('the schedule does not fail')
  const rule = ruleOf(best)
  for (let isBetter = true; isBetter;) {
    isBetter = false
    for (const candidate of simpler(best.schedule)) {
      const outcome = await take(scenario, bound, candidate)
      if (outcome === undefined || ruleOf(outcome) !== rule || weight(outcome) >= weight(best)) continue
      best = outcome
      isBetter = true
      break
    }
  }
  return best
}

const ruleOf = ({ problems: [first = ''] }: Outcome) => first.split(':')[0]

/** Faults count most, then choices other than the first, then steps. */
const weight = ({ faults, schedule, steps }: Outcome): number =>
  1e6 * faults + 1e3 * schedule.filter(choice => choice > 0).length + steps

function* simpler(schedule: Schedule): Generator<Schedule> {
  for (const [i, choice] of schedule.entries()) {
    if (choice === 0) continue
    yield schedule.with(i, 0)
    yield schedule.toSpliced(i, 1)
    yield schedule.slice(0, i)
  }
}

/** The whole counterexample, for a person. */
export function tell(scenario: Scenario, bound: Bound, { problems, schedule, sentences, faults }: Outcome): string {
  return [
    `${scenario.name}: ${sentences.length} steps, ${faults} of ${bound.faults} faults`,
    ...sentences.map(sentence => `  ${sentence}`),
    ...problems.map(problem => `  WRONG: ${problem}`),
    `  The schedule: [${schedule.join(', ')}]`,
  ].join('\n')
}
