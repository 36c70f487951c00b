// Entry point `zkwire/protocol`, for users. It groups records, operations, constants and paths in namespaces. The rest
// of src imports index.ts, in which only the operations have a namespace.
export * as constants from './constants.ts'
export * as operations from './operations.ts'
export * as paths from './paths.ts'
export * as records from './every-record.ts'
export type { Codec, Encodable, FieldReader, Layout, TypeOf } from './codec.ts'
export {
  codeOf,
  errnos,
  MultiError,
  ZooKeeperError,
  type ErrorCode,
  type ErrorContext,
  type Fate,
  type MultiFailure,
  type ServerErrorCode,
} from './errors.ts'
export { explain, type ExplainOptions, type Explanation } from './explain.ts'
export { Framer, FrameTooLong, type OnFrame } from './frames.ts'
export { record } from './jute.ts'
export { JuteError } from './jute-error.ts'
export type { Operation, WatchKind } from './operation.ts'
export { Reader } from './reader.ts'
export { encodeRequest } from './request-frame.ts'
export { Writer } from './writer.ts'
