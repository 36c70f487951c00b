// The options of a cache and of its changes, and their checks.
import { aFunction, aSignal } from '../../client/recipe-support.ts'
import type { Stat } from '../../protocol/index.ts'
import { mustBe, type Checks } from '../../options/checks.ts'
import { aCodec, type DataCodec } from '../call/codec.ts'
import type { Cache } from './cache.ts'
import type { CacheChangesOptions } from './changes.ts'

/**
 * Options of a {@link Cache}. If one of its functions throws, the node in question is hidden, and the error is passed to
 * the option `onUncaughtError` of the client.
 * @example
 * await zk.create('/settings/colour/dark', 'black', { parents: true })
 * const options: CacheOptions = { depth: 1, data: false, maxBytes: 1_000_000 }
 * await using cache = new Cache(zk, '/settings', options)
 * await cache.ready
 * Array.from(cache, ({ path }) => path) // => ['/settings', '/settings/colour']
 */
export interface CacheOptions {
  /**
   * The number of levels below the path, a whole number from 0 on: 0 is the node alone, 1 adds its children. Default
   * Infinity: the whole subtree.
   */
  depth?: number | undefined
  /**
   * Called with each path below the cache's own. If it returns false, the cache has neither that node nor the nodes
   * below it. Default: all paths.
   */
  paths?: ((path: string) => boolean) | undefined
  /**
   * Whether the cache keeps the data of a node: true, false, or a function of its path and Stat. Without its data, a
   * node has `data: undefined`. Default true.
   */
  data?: boolean | ((path: string, stat: Stat) => boolean) | undefined
  /**
   * Converts data before it is kept, and back at each read: `{ encode: deflateRawSync, decode: inflateRawSync }` of
   * node:zlib compresses it. Default: data is kept as it is.
   */
  codec?: DataCodec<Uint8Array> | undefined
  /**
   * The most bytes of memory that the copy may need, 0 or more: see `bytes` of the cache. If it needs more, the cache
   * ends with a RecipeError `TOOLARGE`. Default Infinity.
   */
  maxBytes?: number | undefined
  /**
   * A cache of the same path that has ended, for example with an earlier session. The new cache begins with the copy of
   * that one, and reports how the tree differs from it. Default: begins empty.
   */
  previous?: Cache | undefined
  /** Closes the cache when it aborts. `ready` and iterations then reject with its reason. Default: no signal. */
  signal?: AbortSignal | undefined
}

const isLimit = (value: unknown) => typeof value === 'number' && value >= 0

export const cacheOptionChecks: Checks<CacheOptions> = {
  depth: mustBe(
    'a whole number from 0 on, or Infinity',
    (value: unknown) => isLimit(value) && (value === Infinity || Number.isInteger(value)),
  ),
  paths: aFunction,
  data: mustBe('true, false or a function', value => ['boolean', 'function'].includes(typeof value)),
  codec: aCodec,
  maxBytes: mustBe('a number of bytes, 0 or more', isLimit),
  previous: mustBe('a Cache', (value: unknown) => typeof value === 'object' && value !== null),
  signal: aSignal,
}

export const changesOptionChecks: Checks<CacheChangesOptions> = {
  signal: aSignal,
  capacity: mustBe('a number of at least 1', value => isLimit(value) && value >= 1),
}
