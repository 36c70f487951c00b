// Entry point `zkwire/server`: an embedded ZooKeeper, in memory, for tests. Re-exports only.
// May import: testing, transport, protocol, runtime.
export { VirtualClock, type UntilOptions } from '../testing/virtual-clock.ts'
export type { ServerStats } from './counts.ts'
export type { TransactionRecord } from './database.ts'
export { Fault, Faults, type FaultEffect, type FaultMatch, type FaultKind } from './faults.ts'
export type { ServerOptions } from './options.ts'
export { Server } from './server.ts'
export type { Snapshot, WatchEntry } from './snapshot.ts'
export type { TreeChange } from './transaction.ts'
export type { NodeKind } from './tree.ts'
