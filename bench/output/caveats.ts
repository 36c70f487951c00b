// Caveats to the figures: counts that vary or differ from the server's, and scenarios that were not measured. Pure.
import type { Measurement } from '../measure/measurement.ts'
import { TOO_HEAVY, weightOf, type Task } from '../harness/plan.ts'
import type { Scenario } from '../harness/scenario.ts'
import { summaryOf } from '../measure/summary.ts'
import { bytes } from './figures.ts'

/** Returns one sentence for each caveat. */
export function caveatsOf(
  measurements: readonly Measurement[],
  { scenarios, sizes, all }: { scenarios: readonly Scenario[]; sizes: readonly number[]; all: boolean },
): string[] {
  const caveats: string[] = []
  const measured = scenarios.filter(({ name }) => measurements.some(({ scenario }) => scenario === name))
  for (const { name, variesBecause } of measured)
    if (variesBecause !== undefined)
      caveats.push(`The counts of ${name} are medians, not exact, because ${variesBecause}.`)
  const varies = (measurement: Measurement) =>
    scenarios.some(({ name, variesBecause }) => name === measurement.scenario && variesBecause !== undefined)
  const uneven = measurements
    .filter(each => !varies(each) && (!summaryOf(each).isConstant || each.asExpected === false))
    .map(nameOf)
  if (uneven.length > 0)
    caveats.push(
      `The steps of these scenarios did not all cause the same traffic, so their counts are medians: ${uneven.join(', ')}.`,
    )
  const differing = measurements.filter(({ bothSides }) => bothSides?.agree === false).map(nameOf)
  if (differing.length > 0) caveats.push(`The server's counts differ from the clients': ${differing.join(', ')}.`)
  const tasks = sizes.flatMap(size => scenarios.map(scenario => ({ scenario, size })))
  const heavy = all ? [] : tasks.filter(task => weightOf(task) > TOO_HEAVY)
  caveats.push(...heavy.map(tooHeavy))
  const missing = tasks.filter(
    task =>
      !heavy.includes(task) &&
      !measurements.some(each => each.size === task.size && each.scenario === task.scenario.name),
  )
  const names = missing.map(({ scenario: { name }, size }) => `${name} ${size}`)
  return missing.length === 0 ? caveats : [...caveats, `Not measured because the time ran out: ${names.join(', ')}.`]
}

const tooHeavy = (task: Task): string =>
  `Skipped ${task.scenario.name} ${task.size}: it would move about ${bytes(weightOf(task))} bytes at once (--all includes it).`

const nameOf = ({ scenario, size }: Measurement) => `${scenario} ${size}`
