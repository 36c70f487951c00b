// Observes how a promise settles, for tests in which it may resolve or reject.

/** Resolves with the value or the error of a call. */
export const outcomeOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

/** Returns a function that returns whether the promise has settled. */
export function trackSettled(promise: Promise<unknown>): () => boolean {
  let settled = false
  const settle = () => void (settled = true)
  promise.then(settle, settle)
  return () => settled
}

/** Resolves with the error of a call that must reject. Rejects if the call resolves. */
export const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    value => {
      throw new Error(`the call did not reject but resolved with ${String(value)}`)
    },
    (error: unknown) => error,
  )

/** Resolves with the reason of the signal when it aborts, or if it has. */
export const abortOf = (signal: AbortSignal): Promise<unknown> =>
  new Promise(resolve => {
    if (signal.aborted) resolve(signal.reason)
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
