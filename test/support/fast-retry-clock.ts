// The machine's clock, but for the pause before a client dials again: where connections are cut by the hundred, tests would wait for little else.
import { systemClock, type Clock } from '../../src/runtime/clock.ts'

/** The longest pause before the first attempt, ms. Nothing else of a session whose timeout is a second is as short. */
const PAUSE = 50

/** Not where a session is to be expired by another who takes it up: its own client would take it back before that. */
export const fastRetryClock: Clock = {
  ...systemClock,
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms <= PAUSE ? 0 : ms),
}
