// The system clock without the pause before a client reconnects, for tests that cut hundreds of connections.
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { LONGEST_DELAY } from '../../src/session/servers/backoff.ts'

/**
 * No timer waits for less than the longest pause before an attempt. The timers of a session are longer if its timeout is
 * at least 7 s. Do not use the clock with shorter timeouts of sessions, attempts or locks: those would end at once.
 *
 * Do not use it with expireSession(): the client would reattach to its session before the second connection closes it.
 */
export const fastRetryClock: Clock = {
  ...systemClock,
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms <= LONGEST_DELAY ? 0 : ms),
}
