// The options of a SharedValue, their checks, and the value with its version.
import { anACL } from '../../client/recipe-support.ts'
import type { ACL } from '../../protocol/index.ts'
import type { Checks } from '../../options/checks.ts'
import { aCodecOrSchema, type DataCodec, type NotInferred, type StandardSchema, type Written } from '../call/codec.ts'

/**
 * Options of a SharedValue.
 * @example
 * const options: SharedValueOptions = { initial: 'a' }
 * const { data } = await new SharedValue(zk, '/text', options).get()
 * data?.toString() // => 'a'
 */
export interface SharedValueOptions<T = Buffer | null, In = Written<T>> {
  /**
   * Converts the values to data and back: a {@link DataCodec}, or a validator, which writes JSON. Then `get()` and the others
   * have values of its type instead of bytes. Default: the values are the data.
   */
  codec?: DataCodec<T> | StandardSchema<In, T> | undefined
  /**
   * The value to start with while the node does not exist. Reading does not create the node. Default: empty data, which
   * a validator refuses.
   */
  initial?: NotInferred<In> | undefined
  /** The ACL of the node if it is created. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
}

/**
 * The data of a node, as of the moment when it was read or written.
 * @example
 * const value: VersionedData = await new SharedValue(zk, '/text').set('a')
 * value.version // => 0
 */
export interface VersionedData<T = Buffer | null> {
  /** The data of the node. null if it has none. With a codec: the value that the data stands for. */
  data: T
  /** The version of the node's data; null if the node does not exist. */
  version: number | null
}

export const valueChecks: Checks<SharedValueOptions> = {
  codec: aCodecOrSchema,
  // The conversion checks it.
  initial: () => undefined,
  acl: anACL,
}
