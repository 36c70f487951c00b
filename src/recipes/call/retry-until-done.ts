// Repeats a task until it has a final result. Used for clean-up, which temporary refusals must not prevent.
import { pauseAfter } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'

/**
 * The codes of temporary refusals. A clean-up that gave up at one would leave a node that blocks all other contenders.
 */
export const TEMPORARY = ['TOOMANYPENDING', 'THROTTLEDOP', 'NOTREADONLY', 'REQUESTTIMEOUT', 'OPERATIONTIMEOUT'] as const

/**
 * Runs an idempotent task again after each lost connection and each temporary refusal.
 * @throws the signal's reason; the task's error, if it is not CONNECTIONLOSS or one of TEMPORARY
 */
export async function retryUntilDone<T>(
  client: Client,
  task: () => Promise<T>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<T> {
  for (let refusals = 0; ; refusals++) {
    try {
      return await client.retry(task, { signal })
    } catch (error) {
      if (!isCode(error, ...TEMPORARY)) throw error
    }
    await pauseAfter(client, refusals, signal)
  }
}
