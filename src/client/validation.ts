// What callers hand in, checked before anything is sent: a server cuts the connection for some of it, and Jute would write nonsense.
import {
  badArguments,
  createModes,
  isSequential,
  longestTtl,
  pathProblem,
  type ACL,
  type CreateMode,
} from '../protocol/index.ts'
import { openACL } from './acl.ts'

/** What a node may hold: bytes, or a string that is stored as UTF-8. null is not the same as empty. */
export type Data = Uint8Array | string | null

export interface CreateOptions {
  /** Default 'persistent'. */
  mode?: CreateMode
  /** Default: the world may do anything. */
  acl?: readonly ACL[]
  /**
   * Milliseconds without a change or a child after which the server may delete a node of a TTL mode, from 1 to 2^40 - 1
   * (EphemeralType.TTL). The server must have zookeeper.extendedTypesEnabled.
   */
  ttl?: number
}

/** Without types somebody gives a version, a mode or a callback in their place, and nothing would come of it. */
export const optionsProblem = (options: unknown): string | undefined =>
  typeof options === 'object' && options !== null ? undefined : 'options are an object'

/**
 * The options, as they are.
 * @throws ZooKeeperError BADARGUMENTS where there is a problem: by default, where something else stands in their place
 */
export function checked<O extends object>(
  op: string,
  path: string,
  options: O,
  problemOf: (options: O) => string | undefined = optionsProblem,
): O {
  const problem = problemOf(options)
  if (problem !== undefined) throw badArguments(op, path, problem)
  return options
}

export function createProblem(
  path: string,
  { mode = 'persistent', acl = openACL, ttl }: CreateOptions,
): string | undefined {
  if (!Object.hasOwn(createModes, mode)) return `there is no mode ${JSON.stringify(mode)}`
  const needsTtl = mode.endsWith('TTL')
  if (!needsTtl && ttl !== undefined) return `mode ${mode} takes no ttl`
  if (needsTtl && !(Number.isInteger(ttl) && (ttl as number) >= 1 && (ttl as number) <= longestTtl))
    return `mode ${mode} takes a ttl from 1 to ${longestTtl} ms`
  return pathProblem(path, isSequential(createModes[mode])) ?? aclProblem(acl)
}

/** Of a new node's data: left out, they are empty. */
export const dataProblem = (data: unknown): string | undefined =>
  data === undefined ? undefined : newDataProblem(data)

/** Of data that take the place of others. */
export const newDataProblem = (data: unknown): string | undefined =>
  data === null || typeof data === 'string' || data instanceof Uint8Array
    ? undefined
    : `data is a Uint8Array, a string or null, not ${typeof data}`

export const versionProblem = (options: { version?: number }): string | undefined =>
  optionsProblem(options) ?? problemOf(options.version)

const problemOf = (version: number | undefined): string | undefined =>
  version === undefined || version === (version | 0) ? undefined : `a version is a 32-bit integer, not ${version}`

export const readProblem = (options: { watch?: unknown; signal?: unknown }): string | undefined =>
  optionsProblem(options) ??
  (options.watch === undefined || typeof options.watch === 'function' ? undefined : 'a watch is a function') ??
  (options.signal === undefined || isSignal(options.signal) ? undefined : 'a signal is an AbortSignal')

/** One of another realm, or of a library, will do. */
export const isSignal = (value: unknown): boolean => has(value, 'throwIfAborted')

export const has = (value: unknown, method: string): boolean =>
  typeof (value as Readonly<Record<string, unknown>> | null)?.[method] === 'function'

/** Of a branch: whoever made its nodes sequential would make them for ever, each beside the last. */
export const branchProblem = ({ mode = 'persistent' }: { mode?: string }): string | undefined =>
  ['persistent', 'container'].includes(mode) ? undefined : `the nodes of a branch are no ${mode}`

export const kindProblem = (kind: string): string | undefined =>
  ['data', 'children', 'any'].includes(kind) ? undefined : `there is no kind ${kind}`

/** Without holes, over which `every` passes. */
export const isListOfObjects = (list: unknown): boolean =>
  Array.isArray(list) && list.findIndex(each => typeof each !== 'object' || each === null) === -1

export const opsProblem = (ops: readonly unknown[]): string | undefined =>
  isListOfObjects(ops) ? undefined : 'operations are a list of objects'

export function aclProblem(acl: readonly ACL[]): string | undefined {
  const isEntry = ({ perms, id }: Partial<ACL>) =>
    Number.isInteger(perms) && typeof id?.scheme === 'string' && typeof id.id === 'string'
  return isListOfObjects(acl) && acl.length > 0 && acl.every(isEntry)
    ? undefined
    : 'an acl is a list of {perms, id: {scheme, id}}'
}
