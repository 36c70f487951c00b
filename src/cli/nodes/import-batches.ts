// Plans an import: which nodes go into one multi, and what each of them needs.
import type { MultiOp } from '../../client/index.ts'
import type { ExportedNode } from './exported-node.ts'

/** A node of the input, with the path that it gets, and the number of its line. */
export interface PlacedNode extends ExportedNode {
  readonly line: number
}

/**
 * The largest multi, in bytes. A server closes the connection if a request exceeds its jute.maxbuffer, by default
 * 1 048 575 bytes, and writes the multi as one transaction with more headers.
 */
const BATCH_BYTES = 400_000
const BATCH_NODES = 500
/** More than the headers of one operation take. */
const OVERHEAD = 100

const sizeOf = ({ path, data, acl }: PlacedNode): number =>
  acl.reduce(
    (sum, { id }) => sum + 20 + Buffer.byteLength(id.scheme) + Buffer.byteLength(id.id),
    OVERHEAD + Buffer.byteLength(path) + (data?.length ?? 0),
  )

/** Groups the nodes, in their order. A node that is larger than a batch gets a batch of its own. */
export async function* batchesOf(nodes: AsyncIterable<PlacedNode>): AsyncGenerator<PlacedNode[], void, undefined> {
  let batch: PlacedNode[] = []
  let bytes = 0
  for await (const node of nodes) {
    const size = sizeOf(node)
    if (batch.length > 0 && (bytes + size > BATCH_BYTES || batch.length === BATCH_NODES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(node)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

/** What happens to nodes that exist. */
export type Existing = 'refuse' | 'skip' | 'overwrite'

export type Action = 'create' | 'overwrite' | 'skip' | 'conflict'

export function actionOf(exists: boolean, existing: Existing): Action {
  if (!exists) return 'create'
  return existing === 'refuse' ? 'conflict' : existing
}

/** The modes of the client, by the kind of a node. */
export const modes = { persistent: 'persistent', container: 'container', ttl: 'persistentTTL' } as const

/** Returns the operation of a node in a multi. */
export function opOf({ path, data, acl, kind, ttl }: PlacedNode, action: 'create' | 'overwrite'): MultiOp {
  if (action === 'overwrite') return { setData: path, data }
  return { create: path, data, acl, mode: modes[kind], ttl }
}

/** Moves a path from below one node to below another. */
export function moved(path: string, from: string, to: string): string | undefined {
  if (path === from) return to
  const prefix = from === '/' ? '/' : `${from}/`
  return path.startsWith(prefix) ? `${to === '/' ? '' : to}/${path.slice(prefix.length)}` : undefined
}
