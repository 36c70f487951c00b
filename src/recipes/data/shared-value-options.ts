// The options of a SharedValue, their checks, and the value with its version.
import { anACL, dataProblem } from '../../client/recipe-support.ts'
import type { Data } from '../../client/index.ts'
import type { ACL } from '../../protocol/index.ts'
import { mustBe, type Checks } from '../../options/checks.ts'

/**
 * Options of a SharedValue.
 * @example
 * const options: SharedValueOptions = { initial: 'a' }
 * const { data } = await new SharedValue(zk, '/text', options).get()
 * data?.toString() // => 'a'
 */
export interface SharedValueOptions {
  /** The data to start with while the node does not exist. Reading does not create the node. Default: empty. */
  initial?: Data | undefined
  /** The ACL of the node if it is created. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
}

/**
 * The data of a node, as of the moment when it was read or written.
 * @example
 * const value: VersionedData = await new SharedValue(zk, '/text').set('a')
 * value.version // => 0
 */
export interface VersionedData {
  /** The data of the node. null if it has none. */
  data: Buffer | null
  /** The version of the node's data; null if the node does not exist. */
  version: number | null
}

export const valueChecks: Checks<SharedValueOptions> = {
  initial: mustBe('a Uint8Array, a string or null', value => dataProblem(value) === undefined),
  acl: anACL,
}
