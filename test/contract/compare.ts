// The same, played to two servers.
import type { Address } from '../support/wire-session.ts'
import { play } from './runner.ts'
import type { Step } from './scenario.ts'
import { difference, transcriptOf } from './trace.ts'

let compared = 0

/** @throws Error that tells where the two part */
export async function compare(embedded: Address, apache: Address, steps: readonly Step[]): Promise<void> {
  const base = `/compared-${++compared}`
  const [ours, theirs] = await Promise.all([play(embedded, base, steps), play(apache, base, steps)])
  const parting = difference({ embedded: transcriptOf(ours), Apache: transcriptOf(theirs) })
  if (parting !== undefined) throw new Error(parting)
}
