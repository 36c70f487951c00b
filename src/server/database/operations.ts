// The handlers of all operations that read or change the database.
import {
  errnos,
  JuteError,
  opcodes,
  operations,
  type Encodable,
  type Id,
  type Operation,
  Reader,
  type ServerErrorCode,
  type Stat,
  type Writer,
} from '../../protocol/index.ts'
import { userOf } from './acl.ts'
import type { Database, TxnResult } from './database.ts'
import { addWatchWithoutBody, multiReadWithBareErrors } from './keeper.ts'
import * as reads from './reads.ts'
import { RequestError } from './request-error.ts'
import { isBefore, type Behaviour } from './version.ts'
import type { WatchingConnection } from './watches.ts'
import * as writes from './writes.ts'

/** The session that sent a request. */
interface Caller {
  session: bigint
  identities: readonly Id[]
  watcher: WatchingConnection
}

/** What a request needs: only this server ('read'), the leader ('write', 'close'), or to have caught up ('sync'). */
export type RequestKind = 'read' | 'write' | 'sync' | 'close'

/** A request on its way from the server of the client to the leader. */
export interface RequestPacket {
  /** The number that the client gave to the request (xid). */
  cxid: number
  opcode: number
  /** The bytes of the request after its header. */
  body: Buffer
  /** What the client has proved to its server. */
  identities: readonly Id[]
  /** True if only that server knows the session. */
  isLocal: boolean
}

/** Executes an operation. */
export interface Handler {
  readonly kind: RequestKind
  readonly operation: Pick<Operation<unknown, unknown>, 'name' | 'method' | 'opcode'>
  /**
   * Parses and executes the request. Returns a function that writes the body of the reply, or undefined if the server
   * sends no reply.
   * @throws RequestError if the server rejects the request
   * @throws JuteError if the request is malformed
   */
  run(context: OperationContext, request: Reader): WriteBody | undefined
  /**
   * Returns what writes the body of the reply to a write that the leader has executed; undefined if there is no reply.
   * @param results what this server has made of the transaction
   */
  respond?(results: readonly TxnResult[], request: Reader, settings: writes.WriteSettings): WriteBody | undefined
}

/** Writes the body of a reply. */
type WriteBody = (writer: Writer) => void

export interface OperationContext extends Caller {
  database: Database
  settings: writes.WriteSettings
}

const read = <Q, R>(
  operation: Operation<Q, R>,
  run: (context: OperationContext, request: Q) => Encodable<R>,
  kind: RequestKind = 'read',
): Handler => ({
  kind,
  operation,
  run(context, request) {
    const response = run(context, operation.request.read(request))
    return writer => operation.response.write(writer, response)
  },
})

/** Returns the handler of a write. A write takes a zxid even if it is rejected or malformed. */
const write = <Q, R>(
  operation: Operation<Q, R>,
  run: (context: writes.WriteContext, request: Q) => Encodable<R> | undefined,
  responseOf: (results: readonly TxnResult[], request: Q, settings: writes.WriteSettings) => Encodable<R> | undefined,
): Handler => ({
  kind: 'write',
  operation,
  run({ database, ...caller }, request) {
    const response = database.transact({ session: caller.session, opcode: operation.opcode }, tx =>
      run({ tree: database.tree, tx, ...caller }, operation.request.read(request)),
    )
    return response && (writer => operation.response.write(writer, response))
  },
  respond(results, request, settings) {
    const response = responseOf(results, operation.request.read(request), settings)
    return response && (writer => operation.response.write(writer, response))
  },
})

/** The reply to a write of one operation: what the server has made of it. */
const onlyResult = ([result]: readonly TxnResult[]) => result as { path: string; stat: Stat }

const noBody = () => undefined

const o = operations

const handlers: readonly Handler[] = [
  write(o.create, (context, request) => writes.create(context, opcodes.create, request), onlyResult),
  write(o.create2, (context, request) => writes.create(context, opcodes.create2, request), onlyResult),
  write(o.createContainer, (context, request) => writes.create(context, opcodes.createContainer, request), onlyResult),
  write(o.createTTL, (context, request) => writes.create(context, opcodes.createTTL, request), onlyResult),
  write(
    o.delete,
    (context, { path, version }) => (writes.remove(context, path, version), {}),
    () => ({}),
  ),
  write(
    o.setData,
    (context, { path, data, version }) => ({ stat: writes.setData(context, path, data, version) }),
    onlyResult,
  ),
  write(
    o.setACL,
    (context, { path, acl, version }) => ({ stat: writes.setACL(context, path, acl, version) }),
    onlyResult,
  ),
  // A version that accepts a check outside a multi sends no reply to a successful one.
  write(
    o.check,
    (context, { path, version }) => (writes.check(context, path, version), undefined),
    () => undefined,
  ),
  write(o.multi, writes.multi, (results, items, { behaviour }) => writes.multiReplyOf(behaviour, items, results)),
  write(
    o.reconfig,
    () => {
      throw new RequestError('RECONFIGDISABLED')
    },
    () => undefined,
  ),
  read(o.exists, reads.exists),
  read(o.getData, reads.getData),
  read(o.getChildren, reads.getChildren),
  read(o.getChildren2, reads.getChildren),
  read(o.getACL, (context, { path }) => reads.getACL(context, path)),
  read(o.getAllChildrenNumber, (context, { path }) => ({ totalNumber: reads.getAllChildrenNumber(context, path) })),
  read(o.getEphemerals, (context, { prefixPath }) => ({
    ephemerals: reads.getEphemerals(context, context.session, prefixPath),
  })),
  read(o.multiRead, reads.multiRead),
  read(o.setWatches, (context, request) => (reads.setWatches(context, request), {})),
  read(o.setWatches2, (context, request) => (reads.setWatches(context, request), {})),
  read(o.addWatch, ({ database, watcher }, { path, mode }) => {
    database.watches.add(path, watcher, mode)
    return { err: 0 }
  }),
  read(
    o.checkWatches,
    ({ database, watcher }, { path, type }) => (database.watches.requireWatch(path, watcher, type), {}),
  ),
  read(o.removeWatches, ({ database, watcher }, { path, type }) => (database.watches.remove(path, watcher, type), {})),
  read(o.sync, (_, { path }) => ({ path }), 'sync'),
  // The role of the server ends the session.
  { kind: 'close', operation: o.closeSession, run: () => noBody, respond: () => noBody },
  read(o.ping, () => ({})),
  read(o.whoAmI, ({ identities }) => ({
    clientInfo: identities.map(id => ({ authScheme: id.scheme, user: userOf(id) })),
  })),
]

const byOpcode: ReadonlyMap<number, Handler> = new Map(handlers.map(each => [each.operation.opcode, each]))

/** The error number and the body of a reply; or 'silent' if the server sends no reply. */
export type Outcome = { err: number; body: WriteBody } | 'silent'

export const failed = (code: ServerErrorCode): Outcome => ({ err: errnos[code], body: noBody })

/**
 * Runs the handler of a request, and turns its errors into error numbers.
 * @throws JuteError if a request of authentication is malformed. It closes the connection, as a malformed handshake
 * does (ZooKeeperServer.processPacket).
 */
export function runHandler(handler: Handler, context: OperationContext, request: Reader): Outcome {
  try {
    const body = handler.run(context, request)
    return body === undefined ? 'silent' : { err: 0, body }
  } catch (error) {
    if (error instanceof RequestError) return failed(error.code)
    const isAuthentication = handler.operation === o.auth || handler.operation === o.sasl
    if (error instanceof JuteError && !isAuthentication) return failed('MARSHALLINGERROR')
    throw error
  }
}

/** Returns the outcome of a write that the leader has executed, from what this server has made of the transaction. */
export function outcomeOf(
  handler: Handler,
  results: readonly TxnResult[],
  request: Reader,
  settings: writes.WriteSettings,
): Outcome {
  const [first] = results
  if (first !== undefined && 'err' in first) {
    // The reply to a rejected multi has a body, but not that to a malformed one.
    const hasBody = handler.operation === o.multi && first.err !== errnos.MARSHALLINGERROR
    if (!hasBody) return { err: first.err, body: noBody }
  }
  const body = handler.respond?.(results, request, settings)
  return body === undefined ? 'silent' : { err: 0, body }
}

/** Returns true if the request creates an ephemeral node, which needs a session that all servers know. */
export function createsEphemeral({ opcode, body }: Pick<RequestPacket, 'opcode' | 'body'>): boolean {
  const flagsOf = (): readonly number[] => {
    if (opcode === opcodes.create || opcode === opcodes.create2) return [o.create.request.read(new Reader(body)).flags]
    if (opcode !== opcodes.multi) return []
    return o.multi.request.read(new Reader(body)).flatMap(item => ('flags' in item.body ? [item.body.flags] : []))
  }
  try {
    return flagsOf().some(writes.isEphemeral)
  } catch (error) {
    // The leader rejects a malformed request.
    if (error instanceof JuteError) return false
    throw error
  }
}

/** Returns the handler of an opcode, or undefined if the server does not know it. */
export function handlerOf(opcode: number, { checkOnlyInMulti, keeper }: Behaviour): Handler | undefined {
  if (checkOnlyInMulti && opcode === opcodes.check) return undefined
  if (keeper !== undefined && opcode === opcodes.multiRead) return multiReadWithBareErrors
  if (keeper !== undefined && opcode === opcodes.addWatch && isBefore(keeper, '26.3')) return addWatchWithoutBody
  return byOpcode.get(opcode)
}
