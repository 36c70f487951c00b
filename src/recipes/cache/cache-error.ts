// Failures of a cache, as opposed to failures of a request.
import { brand } from '../../protocol/brand.ts'

/**
 * `TOOLARGE`: the copy would need more than `maxBytes`. `LAGGING`: more than `capacity` changes wait for a reader.
 * @example
 * const code: CacheErrorCode = 'LAGGING'
 * new CacheError(code, '/settings', 'the reader was too slow').code // => 'LAGGING'
 */
export type CacheErrorCode = 'TOOLARGE' | 'LAGGING'

/**
 * A failure of a cache. A cache whose session ends, or whose request fails, ends with a ZooKeeperError instead.
 * @example
 * await zk.create('/settings', 'x'.repeat(1000))
 * await using cache = new Cache(zk, '/settings', { maxBytes: 100 })
 * await cache.ready // throws CacheError
 */
export class CacheError extends Error {
  static {
    brand(this, 'CacheError')
  }
  /** For texts. To recognize the error in code, use `instanceof`. */
  override readonly name = 'CacheError'
  /** Why the copy ended, or was refused. */
  readonly code: CacheErrorCode
  /** The cache's path. */
  readonly path: string

  constructor(code: CacheErrorCode, path: string, detail: string) {
    super(`${code}: ${path}: ${detail}`)
    this.code = code
    this.path = path
  }
}
