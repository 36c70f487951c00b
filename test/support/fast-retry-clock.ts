// The system clock without the pause before a client reconnects, for tests that cut hundreds of connections.
import { systemClock, type Clock } from '../../src/runtime/clock.ts'

/**
 * The longest pause before the first attempt, in ms. Other timers are longer if the session timeout is at least 1 s.
 */
const PAUSE = 50

/**
 * Do not use it with expireSession(): the client would reattach to its session before the second connection closes it.
 */
export const fastRetryClock: Clock = {
  ...systemClock,
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms <= PAUSE ? 0 : ms),
}
