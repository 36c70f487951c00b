// Which data a cache keeps, and in which form.
import { badArguments, Stat } from '../../protocol/index.ts'
import { isStrayPromise } from '../../runtime/callbacks.ts'
import type { CacheNode } from './changes.ts'
import type { NodeRecord } from './copy.ts'

/**
 * Converts data to the bytes that are kept, and back: for example compresses it.
 * @example
 * import { deflateRawSync, inflateRawSync } from 'node:zlib'
 * await zk.create('/text', 'a'.repeat(10_000))
 * const codec: CacheCodec = { encode: deflateRawSync, decode: inflateRawSync }
 * await using cache = new Cache(zk, '/text', { codec })
 * await cache.ready
 * cache.get('/text')?.data?.length // => 10_000
 */
export interface CacheCodec {
  /** Gets the data of a node, and returns the bytes that the copy keeps. */
  encode(data: Buffer): Uint8Array
  /** Gets what encode() returned. */
  decode(bytes: Buffer): Uint8Array
}

export class Content {
  readonly #isKept: (path: string, stat: Stat) => boolean
  readonly #codec: CacheCodec | undefined

  constructor(isKept: (path: string, stat: Stat) => boolean, codec: CacheCodec | undefined) {
    this.#isKept = isKept
    this.#codec = codec
  }

  /** @throws what a function of the cache's options throws */
  record(path: string, stat: Stat, data: Buffer | null): NodeRecord {
    const isKept = atOnce('data', path, this.#isKept(path, stat))
    const codec = isKept && data !== null ? this.#codec : undefined
    const kept = codec === undefined ? data : bufferOf(atOnce('codec.encode', path, codec.encode(data as Buffer)))
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

/**
 * Returns what a function of the cache's options has returned.
 * @throws ZooKeeperError BADARGUMENTS if that is a promise, for which the copy cannot wait
 */
export function atOnce<T>(option: string, path: string, result: T): T {
  if (!isStrayPromise(result)) return result
  throw badArguments('Cache', path, `the function ${option} must return its result, and not a promise`)
}

/** Returns new objects, because the caller may change them. */
export function nodeOf(path: string, record: NodeRecord): CacheNode {
  const { data, codec } = record
  const stat = statOf(record)
  if (typeof data !== 'string') return { path, data, stat }
  const bytes = Buffer.from(data, 'latin1')
  return { path, data: codec === undefined ? bytes : bufferOf(atOnce('codec.decode', path, codec.decode(bytes))), stat }
}

export const statOf = ({ stat }: NodeRecord): Stat => Stat.decode(Buffer.from(stat, 'latin1'))

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)
