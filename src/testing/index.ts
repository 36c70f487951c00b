// Entry point `zkwire/testing`: a clock whose time passes only when a test advances it. Re-exports only.
// May import: runtime.
export { VirtualClock, type UntilOptions } from './virtual-clock.ts'
