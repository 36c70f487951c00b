// Asking until there is an answer: for what must be done in the end, whatever is in the way now.
import { isCode } from '../protocol/index.ts'
import type { Client } from '../session/index.ts'

/** Refusals that pass: a clean-up that took them for an answer would leave a node in everybody's way. */
const PASSING = ['TOOMANYPENDING', 'THROTTLEDOP', 'NOTREADONLY', 'REQUESTTIMEOUT', 'OPERATIONTIMEOUT'] as const
const FIRST_PAUSE = 20
const DOUBLINGS = 6

/** Runs a task, which may be done twice without harm, until it comes to an end that is no lost connection and no passing refusal. */
export async function persist<T>(
  client: Client,
  task: () => Promise<T>,
  options: { signal?: AbortSignal } = {},
): Promise<T> {
  for (let refusals = 0; ; refusals++) {
    try {
      return await client.retry(task, options)
    } catch (error) {
      if (!isCode(error, ...PASSING)) throw error
    }
    const pause = FIRST_PAUSE * 2 ** Math.min(refusals, DOUBLINGS)
    await new Promise<void>(resolve => client.clock.setTimeout(resolve, pause))
  }
}
