// Operations that change the tree. Each checks its rules in the server's order (PrepRequestProcessor).
import {
  type ACL,
  createModes,
  errnos,
  type Id,
  isSequential,
  JuteError,
  longestTtl,
  type MultiRequest,
  type MultiResponse,
  opcodes,
  parentOf,
  pathProblem,
  perms,
  type Stat,
  type TypeOf,
} from '../../protocol/index.ts'
import { specialPaths } from '../../protocol/special-paths.ts'
import { requirePermission, fixupACL } from './acl.ts'
import type { TxnResult } from './database.ts'
import { requireQuota } from './quotas.ts'
import { RequestError } from './request-error.ts'
import type { TreeTransaction } from './transaction.ts'
import { type NodeKind, sequenceSuffix, statOf, type Tree } from './tree.ts'
import type { Behaviour } from './version.ts'

export interface WriteContext {
  tree: Tree
  tx: TreeTransaction
  session: bigint
  identities: readonly Id[]
  settings: WriteSettings
}

export interface WriteSettings {
  /** Allows nodes with a ttl. */
  extendedTypes: boolean
  /** Rejects a write that exceeds the hard limit of a quota. */
  enforceQuota: boolean
  /** Undefined if the server has no SASL. */
  saslUsers?: unknown
  behaviour: Behaviour
}

export interface CreateRequest {
  path: string
  data: Buffer | null
  acl: ACL[] | null
  flags: number
  ttl?: number
}

type CreateOpcode = (typeof opcodes)['create' | 'create2' | 'createContainer' | 'createTTL']

const { ephemeralSequential, persistentTTL, persistentSequentialTTL } = createModes
export const isEphemeral = (flags: number) => flags === createModes.ephemeral || flags === ephemeralSequential
const isTTL = (flags: number) => flags === persistentTTL || flags === persistentSequentialTTL

export function create(
  context: WriteContext,
  opcode: CreateOpcode,
  request: CreateRequest,
): { path: string; stat: Stat } {
  const { tree, tx, identities, session, settings } = context
  requireMode(settings, opcode, request)
  const kind = kindOf(session, opcode, request)
  const parentPath = checkedParent(request.path)
  const acl = fixupACL(request.acl, identities, settings.saslUsers !== undefined)
  const parent = tree.get(parentPath)
  requirePermission(parent.acl, perms.create, identities)
  const path = isSequential(request.flags) ? request.path + sequenceSuffix(tree.counter(tx, parent)) : request.path
  requirePath(path)
  if (tree.find(path) !== undefined) throw new RequestError('NODEEXISTS')
  if (parent.kind.is === 'ephemeral') throw new RequestError('NOCHILDRENFOREPHEMERALS')
  if (settings.enforceQuota) requireQuota(tree, tx, path, { nodes: 1, bytes: request.data?.length ?? 0 })
  return { path, stat: statOf(tree.create(tx, path, { data: request.data, acl, kind })) }
}

/** @throws RequestError if the mode does not exist, is not allowed, or does not fit the ttl */
function requireMode(
  { extendedTypes }: WriteSettings,
  opcode: CreateOpcode,
  { flags, ttl = NO_TTL }: CreateRequest,
): void {
  if (flags < 0 || flags > persistentSequentialTTL) throw new RequestError('BADARGUMENTS')
  if (isTTL(flags) && !extendedTypes) throw new RequestError('UNIMPLEMENTED')
  const fitsMode = isTTL(flags) ? ttl > 0 && ttl <= longestTtl : ttl < 0
  // 3.8.0 accepts a createTTL with a ttl of -1 and another mode, and then shuts itself down.
  if (!fitsMode || (opcode === opcodes.createTTL && !isTTL(flags))) throw new RequestError('BADARGUMENTS')
}

/**
 * Returns the kind of a new node. The opcode decides if it is a container or has a ttl, and the flags decide if it is
 * ephemeral.
 */
function kindOf(session: bigint, opcode: CreateOpcode, { flags, ttl = NO_TTL }: CreateRequest): NodeKind {
  if (opcode === opcodes.createContainer) return { is: 'container' }
  if (opcode === opcodes.createTTL) return { is: 'ttl', ttl }
  return isEphemeral(flags) ? { is: 'ephemeral', session } : { is: 'persistent' }
}

const NO_TTL = -1

export function remove({ tree, tx, identities }: WriteContext, path: string, version: number): void {
  const parentPath = checkedParent(path)
  if (specialPaths.has(path)) throw new RequestError('BADARGUMENTS')
  requirePermission(tree.get(parentPath).acl, perms.delete, identities)
  const node = tree.get(path)
  requireVersion(node.version, version)
  if (node.children.size > 0) throw new RequestError('NOTEMPTY')
  tree.delete(tx, path)
}

export function setData(
  { tree, tx, identities, settings }: WriteContext,
  path: string,
  data: Buffer | null,
  version: number,
): Stat {
  requirePath(path)
  const node = tree.get(path)
  requirePermission(node.acl, perms.write, identities)
  const added = (data?.length ?? 0) - (node.data?.length ?? 0)
  if (settings.enforceQuota) requireQuota(tree, tx, path, { nodes: 0, bytes: added })
  requireVersion(node.version, version)
  return statOf(tree.setData(tx, path, data))
}

export function setACL(
  { tree, tx, identities, settings }: WriteContext,
  path: string,
  acl: ACL[] | null,
  version: number,
): Stat {
  requirePath(path)
  const fixedACL = fixupACL(acl, identities, settings.saslUsers !== undefined)
  const node = tree.get(path)
  requirePermission(node.acl, perms.admin, identities)
  requireVersion(node.aversion, version)
  return statOf(tree.setACL(tx, path, fixedACL))
}

export function check({ tree, tx, identities }: WriteContext, path: string, version: number): void {
  requirePath(path)
  const node = tree.get(path)
  requirePermission(node.acl, perms.read, identities)
  requireVersion(node.version, version)
  tx.record(() => undefined, { type: 'check', path })
}

/** The reply to a multi, and its part for one operation. */
type MultiReply = TypeOf<typeof MultiResponse>
type ItemReply = MultiReply[number]

/** Executes all operations atomically. If one fails, returns one error for each operation. */
export function multi(context: WriteContext, items: TypeOf<typeof MultiRequest>): MultiReply {
  // The server parses all operations before it executes the first.
  for (const { type, body } of items)
    if ('flags' in body) opcodeInMulti(context.settings.behaviour, type as CreateOpcode, body)
  const replies: ItemReply[] = []
  for (const item of items) {
    try {
      replies.push(runItem(context, item))
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      const failed = replies.length
      const errs = items.map((_, i) =>
        i < failed ? 0 : i === failed ? errnos[error.code] : errnos.RUNTIMEINCONSISTENCY,
      )
      context.tx.rollBack(errs)
      return errs.map(failure)
    }
  }
  return replies
}

function runItem(context: WriteContext, { type, body }: TypeOf<typeof MultiRequest>[number]): ItemReply {
  switch (type) {
    case opcodes.delete:
      remove(context, body.path, body.version)
      return { type, body: {} }
    case opcodes.setData:
      return { type, body: { stat: setData(context, body.path, body.data, body.version) } }
    case opcodes.check:
      check(context, body.path, body.version)
      return { type, body: {} }
    default:
      return createInMulti(context, type, body)
  }
}

function createInMulti(context: WriteContext, type: CreateOpcode, body: CreateRequest): ItemReply {
  const opcode = opcodeInMulti(context.settings.behaviour, type, body)
  const created = create(context, opcode, opcode === opcodes.createTTL ? body : { ...body, ttl: NO_TTL })
  return opcode === opcodes.create ? { type: opcodes.create, body: created } : { type: opcodes.create2, body: created }
}

/**
 * Returns the opcode that decides what an operation of a multi creates, and whether the reply contains a Stat.
 * Before ZOOKEEPER-4026, the flags decide it, and unknown flags count as persistent until they are rejected
 * (Op.Create). Since then, the operation's own opcode decides it, and unknown flags or a null ACL are
 * malformed.
 * @throws JuteError if the operation is malformed
 */
function opcodeInMulti({ statInMulti }: Behaviour, type: CreateOpcode, { flags, acl }: CreateRequest): CreateOpcode {
  if (isTTL(flags)) {
    if (type === opcodes.createTTL) return type
    // The server parses such an operation as one with a ttl, and the ttl is missing.
    throw new JuteError('the ttl of a node with a ttl is missing')
  }
  const isContainer = flags === createModes.container
  if (!statInMulti || type === opcodes.createTTL) return isContainer ? opcodes.createContainer : opcodes.create
  if (!Object.values<number>(createModes).includes(flags)) throw new JuteError(`there is no create mode ${flags}`)
  if (acl === null) throw new JuteError('the ACL is missing')
  return isContainer ? opcodes.createContainer : type
}

const failure = (err: number): ItemReply => ({ type: opcodes.error, body: { err } })

/** Returns the reply to a multi that another server has executed. */
export const multiReplyOf = (
  behaviour: Behaviour,
  items: TypeOf<typeof MultiRequest>,
  results: readonly TxnResult[],
): MultiReply =>
  items.map(({ type, body }, i): ItemReply => {
    const result = results[i]
    if (result === undefined) return { type: type as typeof opcodes.delete, body: {} }
    if ('err' in result) return failure(result.err)
    if (type === opcodes.setData) return { type, body: { stat: result.stat } }
    const opcode = opcodeInMulti(behaviour, type as CreateOpcode, body as CreateRequest)
    return { type: opcode === opcodes.create ? opcode : opcodes.create2, body: result }
  })

/**
 * Returns the path of the parent. The path itself is validated later, if at all.
 * @throws RequestError BADARGUMENTS if the path can have no parent
 */
function checkedParent(path: string): string {
  if (!path.includes('/') || path.includes('\0')) throw new RequestError('BADARGUMENTS')
  return parentOf(path)
}

function requirePath(path: string): void {
  if (pathProblem(path) !== undefined) throw new RequestError('BADARGUMENTS')
}

function requireVersion(actual: number, expected: number): void {
  if (expected !== -1 && expected !== actual) throw new RequestError('BADVERSION')
}
