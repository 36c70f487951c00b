// Entry point `zkwire/server`: an embedded ZooKeeper, in memory, for tests. Re-exports only.
// May import: server/connection, server/control, server/database, server/ensemble, options, transport, protocol.
export type { ServerStats } from './connection/stats.ts'
export type { TransactionRecord } from './database/database.ts'
export type { Fault, Faults, FaultEffect, FaultMatch, FaultKind } from './control/faults.ts'
export type { ServerOptions } from './control/options.ts'
export type { MemberMessage, MemberMode, MemberState, MessageContent } from './control/member-state.ts'
export { Server } from './server.ts'
export type { Member } from './member.ts'
export type { Snapshot, WatchEntry } from './control/snapshot.ts'
export type { TreeChange } from './database/transaction.ts'
export type { NodeKind } from './database/tree.ts'
