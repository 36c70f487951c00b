// Every operation that a session may ask for, with what does it.
import {
  opcodes,
  operations,
  type Encodable,
  type Id,
  type Operation,
  type Reader,
  type Writer,
} from '../protocol/index.ts'
import { userOf } from './acl.ts'
import type { Database } from './database.ts'
import * as reads from './reads.ts'
import { RequestError } from './refusal.ts'
import type { WatchOwner } from './watches.ts'
import * as writes from './writes.ts'

/** Who asks. */
export interface Caller {
  session: bigint
  identities: readonly Id[]
  watcher: WatchOwner
}

/** What does an operation. */
export interface Handler {
  readonly operation: Pick<Operation<unknown, unknown>, 'name' | 'method' | 'opcode'>
  /**
   * Reads the request, does it, and returns what writes the answer; undefined where there is to be none.
   * @throws Refusal where the server says no; JuteError where the request makes no sense
   */
  run(on: OperationContext, request: Reader): ((writer: Writer) => void) | undefined
}

/** What all operations are done on. */
export interface OperationContext extends Caller {
  database: Database
  settings: writes.WriteSettings
}

const read = <Q, R>(operation: Operation<Q, R>, run: (on: OperationContext, request: Q) => Encodable<R>): Handler => ({
  operation,
  run(on, request) {
    const answer = run(on, operation.request.read(request))
    return writer => operation.response.write(writer, answer)
  },
})

/** It takes a transaction's number, done or refused, and even where it cannot be read. */
const write = <Q, R>(
  operation: Operation<Q, R>,
  run: (on: writes.WriteContext, request: Q) => Encodable<R> | undefined,
): Handler => ({
  operation,
  run({ database, ...on }, request) {
    const answer = database.transact({ session: on.session, opcode: operation.opcode }, tx =>
      run({ tree: database.tree, tx, ...on }, operation.request.read(request)),
    )
    return answer && (writer => operation.response.write(writer, answer))
  },
})

const o = operations

const handlers: readonly Handler[] = [
  write(o.create, (on, asked) => writes.create(on, opcodes.create, asked)),
  write(o.create2, (on, asked) => writes.create(on, opcodes.create2, asked)),
  write(o.createContainer, (on, asked) => writes.create(on, opcodes.createContainer, asked)),
  write(o.createTTL, (on, asked) => writes.create(on, opcodes.createTTL, asked)),
  write(o.delete, (on, { path, version }) => (writes.remove(on, path, version), {})),
  write(o.setData, (on, { path, data, version }) => ({ stat: writes.setData(on, path, data, version) })),
  write(o.setACL, (on, { path, acl, version }) => ({ stat: writes.setACL(on, path, acl, version) })),
  // 3.8.0 has no answer for one that holds: it stands in a multi, or not at all.
  write(o.check, (on, { path, version }) => (writes.check(on, path, version), undefined)),
  write(o.multi, writes.multi),
  write(o.reconfig, () => {
    throw new RequestError('RECONFIGDISABLED')
  }),
  read(o.exists, reads.exists),
  read(o.getData, reads.getData),
  read(o.getChildren, reads.getChildren),
  read(o.getChildren2, reads.getChildren),
  read(o.getACL, (on, { path }) => reads.getACL(on, path)),
  read(o.getAllChildrenNumber, (on, { path }) => ({ totalNumber: reads.getAllChildrenNumber(on, path) })),
  read(o.getEphemerals, (on, { prefixPath }) => ({ ephemerals: reads.getEphemerals(on, on.session, prefixPath) })),
  read(o.multiRead, reads.multiRead),
  read(o.setWatches, (on, before) => (reads.setWatches(on, before), {})),
  read(o.setWatches2, (on, before) => (reads.setWatches(on, before), {})),
  read(o.addWatch, ({ database, watcher }, { path, mode }) => {
    database.watches.add(path, watcher, mode)
    return { err: 0 }
  }),
  read(o.checkWatches, ({ database }, { path, type }) => (database.watches.requireWatch(path, type), {})),
  read(o.removeWatches, ({ database, watcher }, { path, type }) => (database.watches.remove(path, watcher, type), {})),
  // One server is always up to date with itself.
  read(o.sync, (_, { path }) => ({ path })),
  read(o.ping, () => ({})),
  read(o.whoAmI, ({ identities }) => ({
    clientInfo: identities.map(id => ({ authScheme: id.scheme, user: userOf(id) })),
  })),
]

/** By opcode. */
export const handlerOf: ReadonlyMap<number, Handler> = new Map(handlers.map(each => [each.operation.opcode, each]))
