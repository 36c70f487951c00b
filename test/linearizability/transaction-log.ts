// Reads a server's transaction log from its disk: all transactions of the server, in their order.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventTypes, opcodes, Reader, record, type Codec } from '../../src/protocol/index.ts'
import type { TransactionRecord } from '../../src/server/index.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'

export interface Transaction {
  zxid: bigint
  /** When the server started the transaction, ms since 1970. */
  at: number
  /** The session whose request it was. For closeSession, the session that ended. */
  session: bigint
  type: number
  changes: Change[]
}

type Change =
  | { is: 'created'; path: string }
  | { is: 'deleted'; path: string }
  | { is: 'written'; path: string; data: Buffer | null }

// Names as in zookeeper.jute: org.apache.zookeeper.server.persistence and org.apache.zookeeper.txn.
const FileHeader = record('FileHeader', f => ({ magic: f.int(), version: f.int(), dbid: f.long() }))
const TxnHeader = record('TxnHeader', f => ({
  clientId: f.long(),
  cxid: f.int(),
  zxid: f.long(),
  time: f.time(),
  type: f.int(),
}))
/** The following records declare only the leading fields, which are all that is needed here. */
const CreateTxn = record('CreateTxn', f => ({ path: f.string() }))
const DeleteTxn = record('DeleteTxn', f => ({ path: f.string() }))
const SetDataTxn = record('SetDataTxn', f => ({ path: f.string(), data: f.buffer() }))
const CloseSessionTxn = record('CloseSessionTxn', f => ({ paths2Delete: f.strings() }))
const Txn = record('Txn', f => ({ type: f.int(), data: f.buffer() }))
const MultiTxn = record('MultiTxn', f => ({ txns: f.vector(Txn) }))

const MAGIC = 'ZKLG'
const HEADER_LENGTH = 16
/** An entry starts with a checksum (8 bytes) and a length (4 bytes). */
const ENTRY = 12
const END_OF_ENTRY = 0x42

/**
 * Returns all transactions that the server has logged so far. It logs before it replies, so the log has all that a
 * client can know.
 */
export function readTransactionLog({ directory }: Pick<ApacheZooKeeper, 'directory'>): Transaction[] {
  const data = join(directory, 'version-2')
  const files = existsSync(data) ? readdirSync(data).filter(name => name.startsWith('log.')) : []
  return files
    .map(name => ({ path: join(data, name), first: parseInt(name.slice('log.'.length), 16) }))
    .sort((a, b) => a.first - b.first)
    .flatMap(({ path }) => transactionsIn(readFileSync(path)))
}

/** Returns the transactions in one log file. The server preallocates files, so zeros follow the last entry. */
function transactionsIn(file: Buffer): Transaction[] {
  if (file.toString('latin1', 0, MAGIC.length) !== MAGIC) return []
  FileHeader.decode(file.subarray(0, HEADER_LENGTH))
  const all: Transaction[] = []
  for (let at = HEADER_LENGTH; at + ENTRY <= file.length;) {
    const length = file.readInt32BE(at + ENTRY - 4)
    const end = at + ENTRY + length
    // The last entry may be incomplete.
    if (length === 0 || file[end] !== END_OF_ENTRY) break
    all.push(transaction(new Reader(file, at + ENTRY, end)))
    at = end + 1
  }
  return all
}

function transaction(reader: Reader): Transaction {
  const { zxid, time, clientId, type } = TxnHeader.read(reader)
  return { zxid, at: time, session: clientId, type, changes: changesOf(type, reader) }
}

function changesOf(type: number, reader: Reader): Change[] {
  const read = <T>(codec: Codec<T>): T => codec.read(reader)
  switch (type) {
    case opcodes.create:
    case opcodes.create2:
    case opcodes.createContainer:
    case opcodes.createTTL:
      return [{ is: 'created', path: read(CreateTxn).path }]
    case opcodes.delete:
    case opcodes.deleteContainer:
      return [{ is: 'deleted', path: read(DeleteTxn).path }]
    case opcodes.setData: {
      const { path, data } = read(SetDataTxn)
      return [{ is: 'written', path, data }]
    }
    case opcodes.closeSession:
      return read(CloseSessionTxn).paths2Delete.map(path => ({ is: 'deleted', path }))
    case opcodes.multi: {
      const { txns } = read(MultiTxn)
      // A failed multi is logged too. Its operations before the failure look as if they had been applied
      // (DataTree.processTxn).
      if (txns.some(each => each.type === opcodes.error)) return []
      return txns.flatMap(each => changesOf(each.type, new Reader(each.data ?? Buffer.alloc(0))))
    }
    default:
      return []
  }
}

const changeNames = new Map([
  [eventTypes.NodeCreated, 'created'],
  [eventTypes.NodeDeleted, 'deleted'],
  [eventTypes.NodeDataChanged, 'written'],
])

/** Converts a record of the embedded server's onTransaction. */
export function transactionOf({ zxid, time, session, opcode, changes }: TransactionRecord): Transaction {
  const changed = changes.map(({ type, path }) => ({ is: changeNames.get(type), path, data: null }) as Change)
  return { zxid, at: time, session, type: opcode, changes: changed }
}
