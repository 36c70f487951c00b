// The door to the embedded server.
export { VirtualClock, type UntilOptions } from '../machine/virtual-clock.ts'
export type { TransactionRecord } from './database.ts'
export { Fault, Faults, type Effect, type FaultChoice, type FaultKind } from './faults.ts'
export type { ServerOptions } from './options.ts'
export { Server } from './server.ts'
export type { Snapshot, WatchEntry } from './snapshot.ts'
export type { Change } from './transaction.ts'
export type { Life } from './tree.ts'
