// Repeats a task until it has a final result. For clean-up, which temporary refusals must not prevent.
import { clockOf, isTerminal } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'

/** Temporary refusals. A clean-up that accepted one as final would leave a node that blocks all other contenders. */
const TEMPORARY = ['TOOMANYPENDING', 'THROTTLEDOP', 'NOTREADONLY', 'REQUESTTIMEOUT', 'OPERATIONTIMEOUT'] as const
const FIRST_PAUSE = 20
const DOUBLINGS = 6

/**
 * Runs an idempotent task again after each lost connection and each temporary refusal.
 * @throws the signal's reason; the task's error, if it is neither of these
 */
export async function retryForever<T>(
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
    await pause(client, FIRST_PAUSE * 2 ** Math.min(refusals, DOUBLINGS), signal)
    signal?.throwIfAborted()
  }
}

/** Ends early when the session changes its state or the signal aborts, because the timer must not outlive either. */
async function pause(client: Client, ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (isTerminal(client.state) || signal?.aborted) return
  await new Promise<void>(resolve => {
    const end = () => {
      clockOf(client).clearTimeout(timer)
      client.off('state', end)
      stopListening()
      resolve()
    }
    const timer = clockOf(client).setTimeout(end, ms)
    client.on('state', end)
    const stopListening = onAbort(signal, end)
  })
}
