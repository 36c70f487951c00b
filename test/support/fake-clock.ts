// A clock whose time passes only when a test says so.
export { settle, VirtualClock as FakeClock } from '../../src/machine/virtual-clock.ts'
