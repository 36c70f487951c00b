// Transactions: what a caller writes, what goes on the wire, and what comes back.
import {
  codeOf,
  createModes,
  errnos,
  isSequential,
  JuteError,
  MultiError,
  opcodes,
  pathProblem,
  type Encodable,
  type MultiFailure,
  type MultiRequest,
  type MultiResponse,
  type Stat,
  type TypeOf,
  type ZooKeeperError,
} from '../protocol/index.ts'
import { openACL } from './acl.ts'
import {
  createProblem,
  dataProblem,
  newDataProblem,
  versionProblem,
  type CreateOptions,
  type Data,
} from './validation.ts'
import type { Chroot } from './chroot.ts'

/** One operation of a multi. A version left out, or -1, is any. */
export type MultiOp =
  | ({ create: string; data?: Data } & CreateOptions)
  | { setData: string; data: Data; version?: number }
  | { delete: string; version?: number }
  | { check: string; version?: number }

/** What became of an operation: of a create, its path; `stat` is null on 3.8.0, which leaves it out (ZOOKEEPER-4026). */
export type MultiResult = { path: string; stat: Stat | null } | Stat | undefined

type Item = Encodable<TypeOf<typeof MultiRequest>>[number]

const names = ['create', 'setData', 'delete', 'check'] as const
type Name = (typeof names)[number]

const nameOf = (op: MultiOp): Name => names.find(name => name in op) ?? 'check'

/** Each operation has its path by its name. */
const pathsIn = (op: MultiOp) => op as unknown as Readonly<Record<Name, string>>
export const pathOf = (op: MultiOp): string => pathsIn(op)[nameOf(op)]

/** Why an operation cannot be sent, or undefined. */
export function opProblem(op: MultiOp): string | undefined {
  // The types let it pass, and one alone would be done: without the check that somebody had put into it, perhaps.
  if (names.filter(name => (pathsIn(op)[name] as unknown) !== undefined).length > 1)
    return 'an operation is a create, a setData, a delete or a check'
  if ('create' in op) return createProblem(op.create, op) ?? dataProblem(op.data)
  const problem = pathProblem(pathOf(op)) ?? versionProblem(op)
  return 'setData' in op ? (problem ?? newDataProblem(op.data)) : problem
}

export function itemOf(op: MultiOp, chroot: Chroot): Item {
  const path = chroot.add(pathOf(op), 'create' in op && isSequential(createModes[op.mode ?? 'persistent']))
  if ('setData' in op) return { type: opcodes.setData, body: { path, data: op.data, version: op.version ?? -1 } }
  if ('delete' in op) return { type: opcodes.delete, body: { path, version: op.version ?? -1 } }
  if ('check' in op) return { type: opcodes.check, body: { path, version: op.version ?? -1 } }
  const { data = '', mode = 'persistent', acl = openACL, ttl } = op
  const body = { path, data, acl, flags: createModes[mode] }
  if (ttl !== undefined) return { type: opcodes.createTTL, body: { ...body, ttl } }
  return { type: mode === 'container' ? opcodes.createContainer : opcodes.create2, body }
}

/** For servers before 3.5, which know of one create in a multi, without a Stat, and of no containers; undefined where it is the same. */
export function itemsOf34(items: readonly Item[]): Item[] | undefined {
  const isNewer = ({ type }: Item) => type === opcodes.create2 || type === opcodes.createContainer
  if (!items.some(isNewer)) return undefined
  return items.map(item => {
    if (item.type === opcodes.create2) return { ...item, type: opcodes.create }
    if (item.type !== opcodes.createContainer) return item
    return { type: opcodes.create, body: { ...item.body, flags: createModes.persistent } }
  })
}

/**
 * The results of a multi in the order of its operations, or the error that it failed with.
 * @throws JuteError where the reply does not answer the operations
 */
export function outcomeOf(
  ops: readonly MultiOp[],
  reply: TypeOf<typeof MultiResponse>,
  chroot: Chroot,
): MultiResult[] | ZooKeeperError {
  if (reply.length !== ops.length) throw new JuteError(`${reply.length} results for ${ops.length} operations`)
  const failures = reply.map((item): MultiFailure | undefined => {
    if (item.type !== opcodes.error) return undefined
    const { err } = item.body
    return { code: err === 0 ? 'OK' : codeOf(err), errno: err }
  })
  if (failures.every(failure => failure === undefined))
    return reply.map((item, i) => resultOf(ops[i] as MultiOp, item, chroot))
  return failureOf(ops, failures)
}

function resultOf(op: MultiOp, item: TypeOf<typeof MultiResponse>[number], chroot: Chroot): MultiResult {
  if ('create' in op) {
    if (item.type === opcodes.create) return { path: chroot.created(op.create, item.body.path), stat: null }
    if (item.type === opcodes.create2) return { path: chroot.created(op.create, item.body.path), stat: item.body.stat }
  }
  if ('setData' in op && item.type === opcodes.setData) return item.body.stat
  if ('delete' in op && item.type === opcodes.delete) return undefined
  if ('check' in op && item.type === opcodes.check) return undefined
  throw new JuteError(`a result of type ${item.type} to ${nameOf(op)}`)
}

/** Those before the one to blame carry 0, those behind it RUNTIMEINCONSISTENCY. */
function failureOf(ops: readonly MultiOp[], failures: readonly (MultiFailure | undefined)[]): MultiError {
  const results = failures.map(failure => failure ?? { code: 'OK' as const, errno: 0 })
  const isCause = ({ errno }: MultiFailure) => errno !== 0 && errno !== errnos.RUNTIMEINCONSISTENCY
  const blamed = Math.max(0, results.findIndex(isCause))
  const op = ops[blamed] as MultiOp
  const { code, errno } = results[blamed] as MultiFailure
  return new MultiError(
    code === 'OK' ? 'RUNTIMEINCONSISTENCY' : code,
    { op: nameOf(op), path: pathOf(op), fate: 'refused', errno, detail: `operation ${blamed} of a multi` },
    results,
  )
}
