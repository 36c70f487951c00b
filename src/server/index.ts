// Entry point `zkwire/server`: an embedded ZooKeeper, in memory, for tests. Re-exports only.
// May import: testing, transport, protocol, runtime, sasl/digest-proof.ts, sasl/directives.ts, sasl/sasl-error.ts.
export { VirtualClock, type UntilOptions } from '../testing/virtual-clock.ts'
export type { ServerStats } from './stats.ts'
export type { TransactionRecord } from './database.ts'
export type { Fault, Faults, FaultEffect, FaultMatch, FaultKind } from './faults.ts'
export type { ServerOptions } from './options.ts'
export type { MemberMessage, MemberMode, MemberState } from './member-state.ts'
export { Server } from './server.ts'
export type { Member } from './member.ts'
export type { Snapshot, WatchEntry } from './snapshot.ts'
export type { TreeChange } from './transaction.ts'
export type { NodeKind } from './node.ts'
