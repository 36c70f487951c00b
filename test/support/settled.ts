// How a call ended, either way, and whether it has: for tests in which both are possible.

export const outcomeOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

/** Tells whether the promise has settled. */
export function trackSettled(promise: Promise<unknown>): () => boolean {
  let settled = false
  const settle = () => void (settled = true)
  promise.then(settle, settle)
  return () => settled
}

/** The error of a call that is to fail. */
export const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    value => {
      throw new Error(`it did not reject but gave ${String(value)}`)
    },
    (error: unknown) => error,
  )
