// What happens when a run is aborted.

/** Calls the action when the signal aborts, or at once if it has. */
export function whenAborted(signal: AbortSignal, action: () => void): void {
  if (signal.aborted) action()
  else signal.addEventListener('abort', action, { once: true })
}

/** Rejects with the signal's reason when it aborts. Never resolves. */
export const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => whenAborted(signal, () => reject(signal.reason as Error)))
