// Entry point `zkwire/protocol`, for users. It groups records, operations, constants and paths in namespaces. The rest
// of src imports index.ts, in which only the operations have a namespace.
/**
 * ZooKeeper's numbers.
 * @example constants.opcodes.create // => 1
 */
export * as constants from './constants.ts'
/**
 * The operations: what a request and its reply contain.
 * @example
 * operations.exists.request.encode({ path: '/a', watch: true }).toString('hex') // => '000000022f6101'
 */
export * as operations from './operations.ts'
/**
 * Rules of paths.
 * @example paths.parentOf('/app/a') // => '/app'
 */
export * as paths from './paths.ts'
/**
 * The records that a client and a server exchange, with their codecs.
 * @example
 * const bytes = records.RequestHeader.encode({ xid: 1, type: constants.opcodes.exists })
 * records.RequestHeader.decode(bytes) // => { xid: 1, type: 3 }
 */
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
