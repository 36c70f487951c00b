// multiRead(): several reads that all see the same state of the tree.
import {
  codeOf,
  JuteError,
  opcodes,
  ZooKeeperError,
  type Encodable,
  type GetDataResponse,
  type MultiReadRequest,
  type MultiResponse,
  type TypeOf,
} from '../protocol/index.ts'
import type { Chroot } from './chroot.ts'

/**
 * One read of a multiRead: the operation, and its path.
 * @example
 * const reads: ReadOp[] = [{ getData: '/zookeeper' }, { getChildren: '/zookeeper' }]
 * const results = await zk.multiRead(reads)
 * results.length // => 2
 */
export type ReadOp = { getData: string } | { getChildren: string }

/**
 * The result of one read of a multiRead. getData: data and Stat. getChildren: the children, without a Stat. If the read
 * failed: its error.
 * @example
 * const [result]: ReadResult[] = await zk.multiRead([{ getData: '/missing' }])
 * result instanceof ZooKeeperError && result.code // => 'NONODE'
 */
export type ReadResult = TypeOf<typeof GetDataResponse> | { children: string[] } | ZooKeeperError

/**
 * The results of a multiRead, in the order of its reads. The type of each result follows from its read.
 * @example
 * const reads = [{ getChildren: '/zookeeper' }] as const
 * const [list]: ReadResults<typeof reads> = await zk.multiRead(reads)
 * 'children' in list && list.children // => ['config', 'quota']
 */
export type ReadResults<Ops extends readonly ReadOp[]> = {
  -readonly [I in keyof Ops]: ResultOf<Ops[I]>
}

type ResultOf<Op> =
  (Op extends { getData: string } ? TypeOf<typeof GetDataResponse> : { children: string[] }) | ZooKeeperError

export const readPathOf = (op: ReadOp): string => ('getData' in op ? op.getData : op.getChildren)

export function readItemOf(op: ReadOp, chroot: Chroot): Encodable<TypeOf<typeof MultiReadRequest>>[number] {
  const body = { path: chroot.add(readPathOf(op)), watch: false }
  return { type: 'getData' in op ? opcodes.getData : opcodes.getChildren, body }
}

/** @throws JuteError if the reply does not match the reads */
export function readResultsOf(ops: readonly ReadOp[], reply: TypeOf<typeof MultiResponse>): ReadResult[] {
  if (reply.length !== ops.length) throw new JuteError(`${reply.length} results for ${ops.length} reads`)
  return reply.map((item, i) => {
    const op = ops[i] as ReadOp
    const name = 'getData' in op ? 'getData' : 'getChildren'
    if (item.type === opcodes.error) {
      const { err } = item.body
      return new ZooKeeperError(codeOf(err), { op: name, path: readPathOf(op), fate: 'refused', errno: err })
    }
    if ((item.type === opcodes.getData || item.type === opcodes.getChildren) && item.type === opcodes[name])
      return item.body
    throw new JuteError(`a result of type ${item.type} to ${name}`)
  })
}
