// What a reader of the figures should not miss. Pure.
import type { Cell } from './cell.ts'
import { TOO_HEAVY, weightOf } from './plan.ts'
import type { Scenario } from './scenario.ts'
import { summaryOf } from './summary.ts'
import { bytes } from './table.ts'

/** A sentence each. */
export function remarksOn(
  cells: readonly Cell[],
  { scenarios, sizes, all }: { scenarios: readonly Scenario[]; sizes: readonly number[]; all: boolean },
): string[] {
  const remarks: string[] = []
  const uneven = cells.filter(cell => !summaryOf(cell).isConstant || cell.asExpected === false).map(nameOf)
  if (uneven.length > 0)
    remarks.push(`Not every step caused the same, so these counts are medians and not exact: ${uneven.join(', ')}.`)
  const tasks = sizes.flatMap(size => scenarios.map(scenario => ({ scenario, size })))
  for (const task of tasks)
    if (!all && weightOf(task) > TOO_HEAVY)
      remarks.push(
        `${task.scenario.name} ${task.size}: one step would move ${bytes(weightOf(task))}; --all measures it all the same.`,
      )
  const missing = tasks.filter(
    task =>
      (all || weightOf(task) <= TOO_HEAVY) &&
      !cells.some(cell => cell.size === task.size && cell.scenario === task.scenario.name),
  )
  const names = missing.map(({ scenario: { name }, size }) => `${name} ${size}`)
  return missing.length === 0 ? remarks : [...remarks, `Not measured, for want of time: ${names.join(', ')}.`]
}

const nameOf = ({ scenario, size }: Cell) => `${scenario} ${size}`
