// Entry point `zkwire`: the client. Re-exports only.
// May import: client/index.ts, protocol/index.ts, runtime/node-types.d.ts, transport.
export * from './client/index.ts'
export {
  codeOf,
  createModes,
  errnos,
  explain,
  isCode,
  MultiError,
  perms,
  ZooKeeperError,
  type ACL,
  type ClientInfo,
  type CreateMode,
  type ErrorCode,
  type Explanation,
  type Fate,
  type Id,
  type MultiFailure,
  type Stat,
} from './protocol/index.ts'
export type { TlsOptions } from './transport/tls.ts'
export {
  PermanentError,
  type Address,
  type Dial,
  type Transport,
  type TransportHandler,
} from './transport/transport.ts'
export type { SrvRecord } from './transport/srv.ts'
export type {} from './runtime/node-types.d.ts'
