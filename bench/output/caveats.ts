// What a reader of the figures should not miss. Pure.
import type { Cell } from '../measure/measurement.ts'
import { TOO_HEAVY, weightOf, type Task } from '../harness/plan.ts'
import type { Scenario } from '../harness/scenario.ts'
import { summaryOf } from '../measure/summary.ts'
import { bytes } from './table.ts'

/** A sentence each. */
export function remarksOn(
  cells: readonly Cell[],
  { scenarios, sizes, all }: { scenarios: readonly Scenario[]; sizes: readonly number[]; all: boolean },
): string[] {
  const remarks: string[] = []
  const measured = scenarios.filter(({ name }) => cells.some(({ scenario }) => scenario === name))
  for (const { name, byChance } of measured)
    if (byChance !== undefined) remarks.push(`The counts of ${name} are medians, and not exact: ${byChance}.`)
  const isByChance = (cell: Cell) =>
    scenarios.some(({ name, byChance }) => name === cell.scenario && byChance !== undefined)
  const uneven = cells
    .filter(cell => !isByChance(cell) && (!summaryOf(cell).isConstant || cell.asExpected === false))
    .map(nameOf)
  if (uneven.length > 0)
    remarks.push(`Not every step caused the same, so these counts are medians and not exact: ${uneven.join(', ')}.`)
  const unlike = cells.filter(({ bothSides }) => bothSides?.agree === false).map(nameOf)
  if (unlike.length > 0) remarks.push(`The server has counted otherwise than its clients: ${unlike.join(', ')}.`)
  const tasks = sizes.flatMap(size => scenarios.map(scenario => ({ scenario, size })))
  const heavy = all ? [] : tasks.filter(task => weightOf(task) > TOO_HEAVY)
  remarks.push(...heavy.map(tooHeavy))
  const missing = tasks.filter(
    task =>
      !heavy.includes(task) && !cells.some(cell => cell.size === task.size && cell.scenario === task.scenario.name),
  )
  const names = missing.map(({ scenario: { name }, size }) => `${name} ${size}`)
  return missing.length === 0 ? remarks : [...remarks, `Not measured, for want of time: ${names.join(', ')}.`]
}

const tooHeavy = (task: Task): string =>
  `${task.scenario.name} ${task.size}: it would move some ${bytes(weightOf(task))} bytes at once; --all measures it all the same.`

const nameOf = ({ scenario, size }: Cell) => `${scenario} ${size}`
