// Checks the arguments of calls before anything is sent. A server closes the connection over some invalid requests, and
// Jute would encode others as something else.
import {
  badArguments,
  createModes,
  isSequential,
  longestTtl,
  pathProblem,
  type ACL,
  type CreateMode,
} from '../protocol/index.ts'
import { aBoolean, aFunction, mustBe, optionsProblem, type Check, type Checks } from '../options/checks.ts'

/**
 * The data of a node: bytes, or a string, which is stored as UTF-8. null means no data, which ZooKeeper distinguishes
 * from empty data.
 * @example
 * const values: Data[] = ['text', new Uint8Array([1, 2]), '', null]
 * for (const [i, value] of values.entries()) await zk.create(`/${i}`, value)
 * const { data } = await zk.getData('/3')
 * data // => null
 */
export type Data = Uint8Array | string | null

/**
 * An option of many calls: a signal that cancels them.
 * @example
 * const options: SignalOption = { signal: AbortSignal.abort() }
 * await zk.ensurePath('/app', options) // throws AbortError
 */
export interface SignalOption {
  /**
   * Aborting cancels the call, which rejects at once with `signal.reason`. A request that is still queued is never
   * sent. If it was already sent, the server may still execute it.
   */
  signal?: AbortSignal | undefined
}

/**
 * Options of {@link Client.create}.
 * @example
 * const options: CreateOptions = { mode: 'ephemeral', parents: true, acl: creatorAllACL }
 * await zk.addAuth('digest', 'ann:secret')
 * const { stat } = await zk.create('/workers/a', '', options)
 * stat.ephemeralOwner // => zk.sessionId
 */
export interface CreateOptions extends SignalOption {
  /** Persistent or ephemeral, sequential or not, container, or with a TTL. Default 'persistent'. */
  mode?: CreateMode | undefined
  /** ACL of the node. Default: the option `acl` of `connect`, and without it all permissions for everybody (openACL). */
  acl?: readonly ACL[] | undefined
  /**
   * Time to live in milliseconds, from 1 to 2^40 - 1 (EphemeralType.TTL). The server may delete the node when its data
   * has not changed for this long and it has no child (ContainerManager). Required by the modes with a TTL, and invalid
   * in any other mode. The server must have zookeeper.extendedTypesEnabled set.
   */
  ttl?: number | undefined
  /**
   * Also creates missing ancestors, as empty persistent nodes with the option `acl` of `connect` as their ACL. Creating
   * them waits through lost connections. Default false.
   */
  parents?: boolean | undefined
}

/**
 * Options of {@link Client.setData}, {@link Client.delete} and {@link Client.setACL}.
 * @example
 * const { stat } = await zk.create('/app', 'v1')
 * const options: VersionOptions = { version: stat.version }
 * await zk.delete('/app', options)
 * await zk.exists('/app') // => null
 */
export interface VersionOptions extends SignalOption {
  /** The server rejects the operation with BADVERSION unless the node has this version. Default -1: any version. */
  version?: number | undefined
}

// Checks of single options

/** Returns true also for an AbortSignal of another realm or of a library. */
const isSignal = (value: unknown): boolean => hasMethod(value, 'throwIfAborted')

export const hasMethod = (value: unknown, method: string): boolean =>
  typeof (value as Readonly<Record<string, unknown>> | null)?.[method] === 'function'

/**
 * Returns true for an array of objects. Uses findIndex(), because it visits the holes of a sparse array and every()
 * skips them.
 */
export const isListOfObjects = (list: unknown): boolean =>
  Array.isArray(list) && list.findIndex(each => typeof each !== 'object' || each === null) === -1

const isACL = (acl: readonly ACL[]): boolean =>
  isListOfObjects(acl) &&
  acl.length > 0 &&
  acl.every(
    ({ perms, id }: Partial<ACL>) =>
      Number.isInteger(perms) && typeof id?.scheme === 'string' && typeof id.id === 'string',
  )

export const aSignal = mustBe('an AbortSignal', isSignal)
export const aTimeout = mustBe('a number of milliseconds, 0 or more', value => typeof value === 'number' && value >= 0)
export const anACL = mustBe('a list of {perms, id: {scheme, id}}', isACL)
const aVersion = mustBe('a 32-bit integer', (value: number) => value === (value | 0))
export const anything: Check = () => undefined

// Faster than Object.hasOwn(), and no inherited property is a number.
const aMode: Check = value =>
  typeof createModes[value as CreateMode] === 'number'
    ? undefined
    : `must be one of ${Object.keys(createModes).join(', ')}`

export const aclProblem = (acl: unknown): string | undefined => {
  const problem = anACL(acl)
  return problem && `the acl ${problem}`
}

// Checks of the options of a call

export const signalChecks: Checks<SignalOption> = { signal: aSignal }
export const versionChecks: Checks<VersionOptions> = { ...signalChecks, version: aVersion }
export const readChecks = { ...signalChecks, watch: aFunction }
/** The ttl is checked by {@link createProblem}, because it depends on the mode. */
export const createChecks: Checks<CreateOptions> = {
  ...signalChecks,
  mode: aMode,
  acl: anACL,
  ttl: anything,
  parents: aBoolean,
}
/** The options of an operation in a multi, which has a signal only as a whole, and creates no parents. */
export type ItemCreateOptions = Omit<CreateOptions, 'signal' | 'parents'>
export type ItemVersionOptions = Pick<VersionOptions, 'version'>
export const itemVersionChecks: Checks<ItemVersionOptions> = { version: versionChecks.version }
export const itemCreateChecks: Checks<ItemCreateOptions> = {
  mode: createChecks.mode,
  acl: createChecks.acl,
  ttl: createChecks.ttl,
}
/**
 * ensurePath() allows only persistent and container nodes: a sequential mode would create a new sibling on every call.
 */
export const ensureChecks = {
  ...signalChecks,
  acl: anACL,
  mode: mustBe('persistent or container', (value: unknown) => value === 'persistent' || value === 'container'),
}

/**
 * Returns the options unchanged.
 * @throws ZooKeeperError BADARGUMENTS if an option is unknown or invalid
 */
export function checked<O extends object>(op: string, path: string, options: O, checks: Checks<O>): O {
  const problem = optionsProblem<O>(options, checks)
  if (problem !== undefined) throw badArguments(op, path, problem)
  return options
}

// Each of these returns why an argument is invalid, or undefined if it is valid.

export const createProblem = <O extends ItemCreateOptions>(
  path: string,
  options: O,
  checks: Checks<O>,
): string | undefined => createOptionsProblem(options, checks) ?? modeProblem(path, options)

export function createOptionsProblem<O extends ItemCreateOptions>(options: O, checks: Checks<O>): string | undefined {
  const problem = optionsProblem<O>(options, checks)
  if (problem === undefined) return undefined
  // Untyped callers write { ephemeral: true }, as for other clients.
  const mode = Object.keys(Object(options) as object).find(isModeName)
  return mode === undefined ? problem : `there is no option '${mode}'; did you mean mode: '${mode}'?`
}

const isModeName = (name: string): boolean => Object.hasOwn(createModes, name)

function modeProblem(path: string, { mode = 'persistent', ttl }: ItemCreateOptions): string | undefined {
  const needsTtl = mode === 'persistentTTL' || mode === 'persistentSequentialTTL'
  if (!needsTtl && ttl !== undefined) return `mode ${mode} takes no ttl`
  if (needsTtl && !(Number.isInteger(ttl) && (ttl as number) >= 1 && (ttl as number) <= longestTtl))
    return `mode ${mode} needs a ttl from 1 to ${longestTtl} ms`
  return pathProblem(path, isSequential(createModes[mode]))
}

/** Returns data that the caller cannot change. */
export const copyOf = (data: Data): Data => (data instanceof Uint8Array ? Buffer.from(data) : data)

/** Checks the data of a new node, which may be left out. */
export const dataProblem = (data: unknown): string | undefined =>
  data === undefined ? undefined : newDataProblem(data)

export const newDataProblem = (data: unknown): string | undefined =>
  data === null || typeof data === 'string' || data instanceof Uint8Array
    ? undefined
    : `data must be a Uint8Array, a string or null, not ${typeof data}`

export const kindProblem = (kind: string): string | undefined =>
  ['data', 'children', 'any'].includes(kind) ? undefined : `the kind must be data, children or any, not ${kind}`

// Refusals of an asynchronous call

export const refuse = (op: string, path: string, detail: string): Promise<never> =>
  Promise.reject(badArguments(op, path, detail))

/**
 * Refuses invalid options, an argument that is not a list of objects, or a list with an invalid operation. Reports the
 * first problem.
 */
export function refuseOne<Op>(
  method: string,
  ops: readonly Op[],
  options: SignalOption,
  pathOf: (op: Op) => string,
  problemOf: (op: Op) => string | undefined,
): Promise<never> | undefined {
  const optionProblem = optionsProblem(options, signalChecks)
  if (optionProblem !== undefined) return refuse(method, '', optionProblem)
  if (!isListOfObjects(ops)) return refuse(method, '', 'the operations must be a list of objects')
  for (const op of ops) {
    const problem = problemOf(op)
    if (problem !== undefined) return refuse(method, pathOf(op), problem)
  }
  return undefined
}
