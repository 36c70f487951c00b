// The public interface of the client: connect(), the client and its operations, supervise(). Re-exports only.
// May import: session, session/life, session/requests, session/watches, session/servers, transport, options, protocol, runtime.
export { aclOf, creatorAllACL, digest, openACL, readOnlyACL } from './acl.ts'
export type { Client, CloseOptions, RetryOptions, WatcherOptions, WhenConnectedOptions } from './client.ts'
export type { Created } from './create.ts'
export type { EnsembleConfig, EnsembleServer, Reconfiguration } from './ensemble-config.ts'
export type { CreatedInMulti, MultiOp, MultiResult, MultiResults } from './multi.ts'
export type { ReadOp, ReadResult, ReadResults } from './multi-read.ts'
export { connect, Sessions, supervise, type ConnectOptions, type SessionsOptions } from './node.ts'
export type { ReadOptions } from './operations.ts'
export type { CommonOptions } from './options.ts'
export type { Outage } from './outages.ts'
export { exponentialBackoff, fixedPause, type PauseOptions, type RetryPolicy, type RetryState } from './retry-policy.ts'
export type { SessionsStatus, SessionWait, UseOptions } from './sessions-options.ts'
export type { SessionTask } from './supervise.ts'
export type { Transaction } from './transaction.ts'
export type { CreateOptions, Data, SignalOption, VersionOptions } from './validation.ts'
export type { Clock } from '../runtime/clock.ts'
export type {
  CallMessage,
  ConnectMessage,
  DisconnectMessage,
  RequestMessage,
  SessionStats,
  StateMessage,
  WatchMessage,
} from '../session/diagnostics.ts'
export type { Mechanism } from '../session/life/sasl.ts'
export type { State } from '../session/life/states.ts'
export type { ObservedFrame } from '../session/observed-frame.ts'
export type { WatchCallback, WatchEvent } from '../session/watches/watch-event.ts'
export type { Watcher } from '../session/watches/watcher.ts'
