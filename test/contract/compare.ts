// Runs one scenario on two servers, and compares their traces.
import type { Address } from '../../environment/proxied-connection.ts'
import { runScenario } from './runner.ts'
import type { Step } from './scenario.ts'
import { difference, traceOf } from './trace.ts'

let compared = 0

/** @throws Error that shows the first difference */
export async function compare(embedded: Address, apache: Address, steps: readonly Step[]): Promise<void> {
  const base = `/compared-${++compared}`
  const [ours, theirs] = await Promise.all([runScenario(embedded, base, steps), runScenario(apache, base, steps)])
  const found = difference({ embedded: traceOf(ours), Apache: traceOf(theirs) })
  if (found !== undefined) throw new Error(found)
}
