// Multis: checks their operations, encodes them as items on the wire, and decodes the results.
import {
  codeOf,
  createModes,
  errnos,
  isSequential,
  JuteError,
  MultiError,
  opcodes,
  pathProblem,
  type ACL,
  type Encodable,
  type MultiFailure,
  type MultiRequest,
  type MultiResponse,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import { optionsProblem } from '../options/checks.ts'
import type { Chroot } from './chroot.ts'
import {
  anything,
  createProblem,
  dataProblem,
  itemCreateChecks,
  itemVersionChecks,
  newDataProblem,
  type Data,
  type ItemCreateOptions,
} from './validation.ts'

/**
 * One operation of a multi. A version that is left out, or -1, means any version.
 * @example
 * const ops: MultiOp[] = [{ create: '/app', data: 'v1' }, { create: '/app/a' }, { check: '/app/a', version: 0 }]
 * await zk.multi(ops)
 * await zk.multi(ops) // throws NODEEXISTS
 */
export type MultiOp =
  | ({ create: string; data?: Data | undefined } & ItemCreateOptions)
  | { setData: string; data: Data; version?: number | undefined }
  | { delete: string; version?: number | undefined }
  | { check: string; version?: number | undefined }

/**
 * The result of a create in a multi. `stat` is null if the server leaves it out (ZOOKEEPER-4026: before 3.7.2, in 3.8.0
 * and 3.8.1).
 * @example
 * const [app]: CreatedInMulti[] = await zk.multi([{ create: '/app' }])
 * app?.path // => '/app'
 */
export interface CreatedInMulti {
  /** The path of the new node, with its sequence number if it has one. */
  path: string
  /** The metadata of the new node. null from servers before 3.7.2 and from 3.8.0 and 3.8.1, which leave it out. */
  stat: Stat | null
}

/**
 * The result of one operation of a multi, as `multi` describes.
 * @example
 * const ops: MultiOp[] = [{ create: '/app' }, { setData: '/app', data: 'v1' }, { delete: '/app' }]
 * const results: MultiResult[] = await zk.multi(ops)
 * results.map(result => typeof result) // => ['object', 'object', 'undefined']
 */
export type MultiResult = CreatedInMulti | Stat | undefined

/**
 * The results of a multi, in the order of its operations. The type of each result follows from its operation.
 * @example
 * const ops = [{ create: '/app' }, { setData: '/app', data: 'v1' }] as const
 * const [created, stat]: MultiResults<typeof ops> = await zk.multi(ops)
 * created.path // => '/app'
 * stat.version // => 1
 */
export type MultiResults<Ops extends readonly MultiOp[]> = {
  -readonly [I in keyof Ops]: ResultOf<Ops[I]>
}

/** A conditional type that distributes over unions, so that a list of MultiOp has results of type MultiResult. */
type ResultOf<Op> = Op extends { create: string } ? CreatedInMulti : Op extends { setData: string } ? Stat : undefined

type Item = Encodable<TypeOf<typeof MultiRequest>>[number]

const kinds = ['create', 'setData', 'delete', 'check'] as const
type Kind = (typeof kinds)[number]

const kindOf = (op: MultiOp): Kind => kinds.find(kind => kind in op) ?? 'check'

/** Returns the operation as a record in which the property named after its kind holds the path: `{ create: path }`. */
const pathsIn = (op: MultiOp) => op as unknown as Readonly<Record<Kind, string>>
export const pathOf = (op: MultiOp): string => pathsIn(op)[kindOf(op)]

/** How many paths of a multi an error names. A multi may have thousands of operations. */
const FEW = 3

/** Returns the paths of a multi as an error names them. */
export const pathsText = (paths: readonly string[]): string =>
  paths.slice(0, FEW).join(' ') + (paths.length > FEW ? ` … ${paths.length} in all` : '')

/** Returns why an operation cannot be sent, or undefined if it can. */
export function opProblem(op: MultiOp): string | undefined {
  const paths = pathsIn(op)
  // The types allow two operations in one object. Only one of them would be sent, perhaps without the check that the
  // caller relies on.
  if (kinds.filter(kind => (paths[kind] as unknown) !== undefined).length !== 1)
    return `an operation must have exactly one of ${kinds.join(', ')}`
  const kind = kindOf(op)
  const { [kind]: path, ...options } = paths
  if (kind === 'create') {
    const { data, ...rest } = options as { data?: unknown }
    return createProblem(path, rest, itemCreateChecks) ?? dataProblem(data)
  }
  const problem = pathProblem(path) ?? optionsProblem(options, kind === 'setData' ? setDataChecks : itemVersionChecks)
  return 'setData' in op ? (problem ?? newDataProblem(op.data)) : problem
}

/** The data is checked on its own. */
const setDataChecks = { ...itemVersionChecks, data: anything }

/** @param defaultACL the ACL of a node that is created without one */
export function itemOf(op: MultiOp, chroot: Chroot, defaultACL: readonly ACL[]): Item {
  const path = chroot.add(pathOf(op), 'create' in op && isSequential(createModes[op.mode ?? 'persistent']))
  if ('setData' in op) return { type: opcodes.setData, body: { path, data: op.data, version: op.version ?? -1 } }
  if ('delete' in op) return { type: opcodes.delete, body: { path, version: op.version ?? -1 } }
  if ('check' in op) return { type: opcodes.check, body: { path, version: op.version ?? -1 } }
  const { data = '', mode = 'persistent', acl = defaultACL, ttl } = op
  const body = { path, data, acl, flags: createModes[mode] }
  if (ttl !== undefined) return { type: opcodes.createTTL, body: { ...body, ttl } }
  return { type: mode === 'container' ? opcodes.createContainer : opcodes.create2, body }
}

/** Returns true if servers before 3.5 need other items: see {@link itemsOf34}. */
export const needs35 = (items: readonly Item[]): boolean =>
  items.some(({ type }) => type === opcodes.create2 || type === opcodes.createContainer)

/**
 * Returns the items for servers before 3.5. Those servers reply to create without a Stat, and do not know containers.
 */
export const itemsOf34 = (items: readonly Item[]): Item[] =>
  items.map(item => {
    if (item.type === opcodes.create2) return { ...item, type: opcodes.create }
    if (item.type !== opcodes.createContainer) return item
    return { type: opcodes.create, body: { ...item.body, flags: createModes.persistent } }
  })

/**
 * Returns the results of a multi in the order of its operations.
 * @throws MultiError if one of them failed. The reply itself then has no error number
 * @throws JuteError if the reply does not match the operations
 */
export function resultsOf(ops: readonly MultiOp[], reply: TypeOf<typeof MultiResponse>, chroot: Chroot): MultiResult[] {
  if (reply.length !== ops.length) throw new JuteError(`${reply.length} results for ${ops.length} operations`)
  const failures = reply.map((item): MultiFailure | undefined => {
    if (item.type !== opcodes.error) return undefined
    const { err } = item.body
    return { code: err === 0 ? 'OK' : codeOf(err), errno: err }
  })
  if (failures.every(failure => failure === undefined))
    return reply.map((item, i) => resultOf(ops[i] as MultiOp, item, chroot))
  throw failureOf(ops, failures)
}

function resultOf(op: MultiOp, item: TypeOf<typeof MultiResponse>[number], chroot: Chroot): MultiResult {
  if ('create' in op) {
    if (item.type === opcodes.create) return { path: chroot.created(op.create, item.body.path), stat: null }
    if (item.type === opcodes.create2) return { path: chroot.created(op.create, item.body.path), stat: item.body.stat }
  }
  if ('setData' in op && item.type === opcodes.setData) return item.body.stat
  if ('delete' in op && item.type === opcodes.delete) return undefined
  if ('check' in op && item.type === opcodes.check) return undefined
  throw new JuteError(`a result of type ${item.type} to ${kindOf(op)}`)
}

/**
 * Finds the operation that failed. In the reply, earlier operations have the error number 0, later ones
 * RUNTIMEINCONSISTENCY.
 */
function failureOf(ops: readonly MultiOp[], failures: readonly (MultiFailure | undefined)[]): MultiError {
  const results = failures.map(failure => failure ?? { code: 'OK' as const, errno: 0 })
  const isCause = ({ errno }: MultiFailure) => errno !== 0 && errno !== errnos.RUNTIMEINCONSISTENCY
  const index = Math.max(0, results.findIndex(isCause))
  const op = ops[index] as MultiOp
  const { code, errno } = results[index] as MultiFailure
  return new MultiError(
    code === 'OK' ? 'RUNTIMEINCONSISTENCY' : code,
    { op: kindOf(op), path: pathOf(op), fate: 'refused', errno, detail: `operation ${index} of a multi` },
    results,
  )
}
