// What users call: connect, the client and its operations, supervise. Re-exports only.
// May import: session, session/life, session/requests, session/watches, session/servers, transport, protocol, runtime.
export { aclOf, creatorAllACL, digest, openACL, readOnlyACL } from './acl.ts'
export type { CreateOptions, Data } from './validation.ts'
export { Client, type WatcherOptions } from './client.ts'
export type { Clock } from '../runtime/clock.ts'
export { connect } from './connect.ts'
export type { ObservedFrame } from '../session/connection.ts'
export type {
  ConnectMessage,
  SessionStats,
  DisconnectMessage,
  RequestMessage,
  StateMessage,
  WatchMessage,
} from '../session/diagnostics.ts'
export type { EnsembleConfig, EnsembleServer, Reconfiguration } from './ensemble-config.ts'
export type { Exchange, Mechanism, MechanismContext, Step } from '../session/life/sasl.ts'
export type { MultiOp, MultiResult } from './multi.ts'
export type { ReadOp, ReadResult } from './multi-read.ts'
export type { ReadOptions, VersionOptions } from './operations.ts'
export type { ConnectOptions } from './options.ts'
export type { Random } from '../runtime/random.ts'
export type { State, StateListener } from '../session/life/states.ts'
export { supervise, type SessionTask } from './supervise.ts'
export type { Transaction } from './transaction.ts'
export type { Watcher } from '../session/watches/watcher.ts'
export type { WatchCallback, WatchEvent } from '../session/watches/one-shot-watches.ts'
