// Replies that ClickHouse Keeper writes in another form than ZooKeeper does.
import {
  EmptyRecord,
  GetChildrenResponse,
  GetDataResponse,
  MultiHeader,
  opcodes,
  operations,
  type Writer,
} from '../../protocol/index.ts'
import type { Handler } from './operations.ts'
import * as reads from './reads.ts'

/** Before 26.3, a reply to addWatch has no body (ClickHouse pull request 98499). */
export const addWatchWithoutBody: Handler = {
  kind: 'read',
  operation: operations.addWatch,
  run({ database, watcher }, request) {
    const { path, mode } = operations.addWatch.request.read(request)
    database.watches.add(path, watcher, mode)
    return (writer: Writer) => EmptyRecord.write(writer, {})
  },
}

/** The result of a read that fails has the type of the read, and its error in the header only (RaftKeeper issue 161). */
export const multiReadWithBareErrors: Handler = {
  kind: 'read',
  operation: operations.multiRead,
  run(context, request) {
    const items = operations.multiRead.request.read(request)
    const results = reads.multiRead(context, items)
    return writer => {
      for (const [i, result] of results.entries()) {
        const type = items[i]?.type ?? opcodes.error
        const err = result.type === opcodes.error ? result.body.err : 0
        MultiHeader.write(writer, { type, done: false, err })
        if (result.type === opcodes.getData) GetDataResponse.write(writer, result.body)
        if (result.type === opcodes.getChildren) GetChildrenResponse.write(writer, result.body)
      }
      MultiHeader.write(writer, { type: -1, done: true, err: -1 })
    }
  },
}
