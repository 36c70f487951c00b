// Listening to signals. The only file that knows of Node's limit of listeners.
import { setMaxListeners } from 'node:events'

/**
 * Calls back when the signal aborts, once; returns the way to stop listening. One signal may stand over a thousand calls, so that
 * Node's warning at eleven listeners, which guesses at a leak, is switched off for it.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing
  setMaxListeners(0, signal)
  signal.addEventListener('abort', callback, { once: true })
  return () => signal.removeEventListener('abort', callback)
}

const nothing = () => undefined
