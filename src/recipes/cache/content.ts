// Which data a cache keeps, and in which form.
import { nameOf, type Stat } from '../../protocol/index.ts'
import type { CacheNode } from './changes.ts'
import { keyOf, pack, unpack } from './record.ts'

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

const NOTHING = new Uint8Array()

export class Content {
  readonly #isKept: (path: string, stat: Stat) => boolean
  readonly #codec: CacheCodec | undefined

  constructor(isKept: (path: string, stat: Stat) => boolean, codec: CacheCodec | undefined) {
    this.#isKept = isKept
    this.#codec = codec
  }

  record(path: string, stat: Stat, data: Buffer | null): Buffer {
    const key = keyOf(nameOf(path))
    if (!this.#isKept(path, stat)) return pack(key, stat, 'omitted', NOTHING)
    if (data === null) return pack(key, stat, 'none', NOTHING)
    if (this.#codec === undefined) return pack(key, stat, 'plain', data)
    return pack(key, stat, 'encoded', this.#codec.encode(data))
  }

  node(path: string, record: Buffer): CacheNode {
    const { stat, form, data } = unpack(record)
    if (form === 'omitted') return { path, data: undefined, stat }
    if (form === 'none') return { path, data: null, stat }
    // A copy, because the caller may change it.
    if (form === 'plain') return { path, data: Buffer.from(data), stat }
    // The record may be of an earlier cache that had a codec.
    if (this.#codec === undefined) return { path, data: undefined, stat }
    const { buffer, byteOffset, byteLength } = this.#codec.decode(Buffer.from(data))
    return { path, data: Buffer.from(buffer, byteOffset, byteLength), stat }
  }
}
