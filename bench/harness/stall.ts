// Ends a run in which no frame passes any more.

/** After this time without a frame, ms, a waiter must have missed its notification. */
const STALL_TIMEOUT = 60_000

/** @param activity returns a number that increases with every frame */
export function abortOnStall(activity: () => number, stop: AbortController): NodeJS.Timeout {
  let [last, since] = [activity(), performance.now()]
  const check = () => {
    const current = activity()
    if (current !== last) [last, since] = [current, performance.now()]
    else if (performance.now() - since > STALL_TIMEOUT)
      stop.abort(
        new Error(
          `no frame has passed for ${STALL_TIMEOUT / 1000} s: a waiter missed its notification, or the server hangs`,
        ),
      )
  }
  return setInterval(check, STALL_TIMEOUT / 10)
}
