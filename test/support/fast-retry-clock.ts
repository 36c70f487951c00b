// The options of a client that reconnects without a pause, for tests that cut hundreds of connections.
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { LONGEST_PAUSE } from '../../src/session/servers/backoff.ts'

/**
 * A clock on which each timer of at most the longest pause before an attempt fires at once. The timers of a session must
 * be longer: a session of 8 s pings after 2.4 s, and a holder asks the leader after 2.16 s.
 *
 * Do not use it with expireSession(): the client would reattach to its session before the second connection closes it.
 */
const fastRetryClock: Clock = {
  ...systemClock,
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms <= LONGEST_PAUSE ? 0 : ms),
}

/** Options of a client with that clock. The default time for an attempt would end at once. */
export const fastRetry = { clock: fastRetryClock, attemptTimeout: 5000, sessionTimeout: 8000 }
