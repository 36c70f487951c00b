// Asking until there is an answer: for what must be done in the end, whatever is in the way now.
import { clockOf, isTerminal } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'

/** Refusals that pass: a clean-up that took them for an answer would leave a node in everybody's way. */
const TEMPORARY = ['TOOMANYPENDING', 'THROTTLEDOP', 'NOTREADONLY', 'REQUESTTIMEOUT', 'OPERATIONTIMEOUT'] as const
const FIRST_PAUSE = 20
const DOUBLINGS = 6

/**
 * Runs a task, which may be done twice without harm, until it comes to an end that is no lost connection and no passing refusal.
 * @throws the signal's reason; what the task throws
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

/** Is over early when the session moves, to its end perhaps, and when the signal aborts: a timer would outlive them. */
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
