// The session's time is the machine's, unless its caller gives another.
export { systemClock, type Clock } from '../machine/clock.ts'
