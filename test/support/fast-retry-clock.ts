// The options of a client that reconnects without a pause, for tests that cut hundreds of connections.
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { LONGEST_PAUSE } from '../../src/session/servers/backoff.ts'

/**
 * A clock on which no timer waits for less than the longest pause before an attempt. The timers of a session are longer
 * if its timeout is at least 7 s. Do not use the clock with shorter timeouts of sessions or locks: those would end at
 * once.
 *
 * Do not use it with expireSession(): the client would reattach to its session before the second connection closes it.
 */
const fastRetryClock: Clock = {
  ...systemClock,
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms <= LONGEST_PAUSE ? 0 : ms),
}

/** Options of a client with that clock. The default time for an attempt would end at once. */
export const fastRetry = { clock: fastRetryClock, attemptTimeout: 5000 }
