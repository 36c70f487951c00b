// Which data a cache keeps, and in which form.
import { Stat } from '../../protocol/index.ts'
import { checkedResult, type DataCodec } from '../call/codec.ts'
import type { CacheNode } from './changes.ts'
import type { NodeRecord } from './copy.ts'

export class KeptData {
  readonly #isKept: (path: string, stat: Stat) => boolean
  readonly #codec: DataCodec<Uint8Array> | undefined

  constructor(isKept: (path: string, stat: Stat) => boolean, codec: DataCodec<Uint8Array> | undefined) {
    this.#isKept = isKept
    this.#codec = codec
  }

  /** @throws what a function of the cache's options throws */
  record(path: string, stat: Stat, data: Buffer | null): NodeRecord {
    const isKept = checkedResult('Cache', 'data', path, this.#isKept(path, stat))
    const codec = isKept && data !== null ? this.#codec : undefined
    const kept =
      codec === undefined ? data : bufferOf(checkedResult('Cache', 'codec.encode', path, codec.encode(data as Buffer)))
    const record = {
      stat: Stat.encode(stat).toString('latin1'),
      data: isKept ? (kept?.toString('latin1') ?? null) : undefined,
      codec,
    }
    // Decodes at once, so that each node of the copy can be read.
    if (codec !== undefined) nodeOf(path, record)
    return record
  }
}

/** Returns new objects, because the caller may change them. */
export function nodeOf(path: string, record: NodeRecord): CacheNode {
  const { data, codec } = record
  const stat = statOf(record)
  if (typeof data !== 'string') return { path, data, stat }
  const bytes = Buffer.from(data, 'latin1')
  return {
    path,
    data: codec === undefined ? bytes : bufferOf(checkedResult('Cache', 'codec.decode', path, codec.decode(bytes))),
    stat,
  }
}

export const statOf = ({ stat }: NodeRecord): Stat => Stat.decode(Buffer.from(stat, 'latin1'))

function bufferOf(bytes: Uint8Array | string): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
