// A pause that a signal ends.
import { onAbort } from './abort.ts'
import type { Clock } from './clock.ts'

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise(resolve => {
    const end = () => {
      clock.clearTimeout(timer)
      stopListening()
      resolve()
    }
    const timer = clock.setTimeout(end, ms)
    const stopListening = onAbort(signal, end)
  })
}
