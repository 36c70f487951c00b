// The session's own door.
export { aclOf, creatorAllACL, digest, openACL, readOnlyACL } from './acl.ts'
export type { CreateOptions, Data } from './arguments.ts'
export { Client, type WatcherOptions } from './client.ts'
export type { Clock } from '../machine/clock.ts'
export { connect } from './connect.ts'
export type { ObservedFrame } from './connection.ts'
export type {
  ConnectMessage,
  Counters,
  DisconnectMessage,
  RequestMessage,
  StateMessage,
  WatchMessage,
} from './diagnostics.ts'
export type { EnsembleConfig, EnsembleServer, Reconfiguration } from './ensemble-config.ts'
export type { Exchange, Mechanism, MechanismContext, Step } from './mechanism.ts'
export type { MultiOp, MultiResult } from './multi.ts'
export type { ReadOp, ReadResult } from './multi-read.ts'
export type { ReadOptions, VersionOption } from './nodes.ts'
export type { ConnectOptions } from './options.ts'
export type { Random } from '../machine/random.ts'
export type { State, StateListener } from './states.ts'
export { supervise, type Work } from './supervise.ts'
export type { Transaction } from './transaction.ts'
export type { Watcher } from './watcher.ts'
export type { WatchCallback, WatchEvent } from './watches.ts'
