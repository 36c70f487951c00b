// A schedule that fails, made as short as possible, and told in sentences.
import { kindsOf, titleOf, type Exploration, type Schedule } from './explorer.ts'
import { describePacket, requestOf } from './packet.ts'
import { isOver, lostWakeUp, stepsOf } from './steps.ts'
import { START, World } from './world.ts'

/** One schedule, taken to its end. After the choices that it names, the first possible step is always chosen. */
interface Outcome {
  readonly problems: readonly string[]
  /** The choices, without the last ones that are 0. */
  readonly schedule: Schedule
  readonly faults: number
  readonly steps: number
  readonly sentences: readonly string[]
}

/**
 * Takes it in a new world, in which the real code runs from its start to its end.
 * @returns undefined if the world has no such schedule
 */
export async function take(exploration: Exploration, schedule: Schedule): Promise<Outcome | undefined> {
  const world = await World.of(exploration.scenario)
  const kinds = kindsOf(exploration)
  let state = await world.begin(exploration.faults)
  const opcodes = new Map<string, number>()
  const sentences: string[] = []
  const chosen: number[] = []
  for (let steps = stepsOf(world, state, kinds); steps.length > 0; steps = stepsOf(world, state, kinds)) {
    const choice = steps.length > 1 ? (schedule[chosen.length] ?? 0) : 0
    const step = steps[choice]
    if (step === undefined) return undefined
    if (steps.length > 1) chosen.push(choice)
    const { executes } = step
    const request = executes?.up[0] && requestOf(executes.up[0])
    if (executes !== undefined && request !== undefined) opcodes.set(`${executes.name} ${request[0]}`, request[1])
    const what = step.what((link, packet) => describePacket(packet, xid => opcodes.get(`${link} ${xid}`)))
    sentences.push(`${state.time - START} ms  ${step.fault === undefined ? '' : 'FAULT: '}${what}`)
    state = await step.take()
  }
  const last = chosen.findLastIndex(choice => choice > 0)
  return {
    problems: isOver(state) ? await world.finish(state) : [lostWakeUp(world, state)],
    schedule: chosen.slice(0, last + 1),
    faults: exploration.faults - state.faultsLeft,
    steps: sentences.length,
    sentences,
  }
}

/** Leaves out choices as long as the same rule is violated. Returns the simplest schedule found. */
export async function minimised(exploration: Exploration, schedule: Schedule): Promise<Outcome> {
  let best = await take(exploration, schedule)
  if (best === undefined || best.problems.length === 0) throw new Error('the schedule does not fail')
  const rule = ruleOf(best)
  for (let isBetter = true; isBetter;) {
    isBetter = false
    for (const candidate of simpler(best.schedule)) {
      const outcome = await take(exploration, candidate)
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

/** Tells the whole schedule to a person, and how to repeat it. */
export function tell(exploration: Exploration, { problems, schedule, sentences, faults }: Outcome): string {
  const title = titleOf(exploration)
  return [
    `${title}. A schedule of ${sentences.length} steps with ${faults} fault${faults === 1 ? '' : 's'}`,
    ...sentences.map(sentence => `  ${sentence}`),
    ...problems.map(problem => `  WRONG: ${problem}`),
    `  Repeat it in the repository: npm run suite -- exploration "${title}" --schedule ${schedule.join(',') || 0}`,
  ].join('\n')
}
