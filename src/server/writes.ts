// What changes the tree: the rules of each operation, in the order in which the server asks them (PrepRequestProcessor).
import {
  createModes,
  errnos,
  isSequential,
  JuteError,
  longestTtl,
  opcodes,
  parentOf,
  pathProblem,
  perms,
  type ACL,
  type Id,
  type ServerErrorCode,
  type Stat,
} from '../protocol/index.ts'
import type { MultiRequest, MultiResponse, TypeOf } from '../protocol/index.ts'
import { requirePermission, fixupACL } from './acl.ts'
import { RequestError } from './refusal.ts'
import type { TreeTransaction } from './transaction.ts'
import { sequenceSuffix, specialPaths, statOf, type NodeKind, type Tree } from './tree.ts'

/** What a write is done on, and in whose name. */
export interface WriteContext {
  tree: Tree
  tx: TreeTransaction
  session: bigint
  identities: readonly Id[]
  settings: WriteSettings
}

export interface WriteSettings {
  /** May nodes have a ttl? */
  extendedTypes: boolean
  /** Is a create2 in a multi answered with a Stat? */
  createdStatInMulti: boolean
}

export interface CreateRequest {
  path: string
  data: Buffer | null
  acl: ACL[] | null
  flags: number
  ttl?: number
}

type CreateOpcode = (typeof opcodes)['create' | 'create2' | 'createContainer' | 'createTTL']

const { ephemeral, ephemeralSequential, persistentTTL, persistentSequentialTTL } = createModes
const isEphemeral = (flags: number) => flags === ephemeral || flags === ephemeralSequential
const isTTL = (flags: number) => flags === persistentTTL || flags === persistentSequentialTTL

export function create(on: WriteContext, opcode: CreateOpcode, asked: CreateRequest): { path: string; stat: Stat } {
  const { tree, tx, identities } = on
  requireMode(on.settings, opcode, asked)
  const life = lifeOf(on.session, opcode, asked)
  const parentPath = checkedParent(asked.path)
  const acl = fixupACL(asked.acl, identities)
  const parent = tree.get(parentPath)
  requirePermission(parent.acl, perms.create, identities)
  const path = isSequential(asked.flags) ? asked.path + sequenceSuffix(tree.counter(tx, parent)) : asked.path
  requirePath(path)
  if (tree.find(path) !== undefined) throw new RequestError('NODEEXISTS')
  if (parent.life.is === 'ephemeral') throw new RequestError('NOCHILDRENFOREPHEMERALS')
  return { path, stat: statOf(tree.create(tx, path, { data: asked.data, acl, life })) }
}

/** There is such a mode, the server allows it, and it is given a ttl if it takes one. */
function requireMode(
  { extendedTypes }: WriteSettings,
  opcode: CreateOpcode,
  { flags, ttl = NO_TTL }: CreateRequest,
): void {
  if (flags < 0 || flags > persistentSequentialTTL) throw new RequestError('BADARGUMENTS')
  if (isTTL(flags) && !extendedTypes) throw new RequestError('UNIMPLEMENTED')
  const isFitting = isTTL(flags) ? ttl > 0 && ttl <= longestTtl : ttl < 0
  // 3.8.0 takes a createTTL of a ttl of -1 with another mode, and stops itself over it.
  if (!isFitting || (opcode === opcodes.createTTL && !isTTL(flags))) throw new RequestError('BADARGUMENTS')
}

/** Containers and nodes with a ttl are known by the opcode, and ephemeral nodes by the flags. */
function lifeOf(session: bigint, opcode: CreateOpcode, { flags, ttl = NO_TTL }: CreateRequest): NodeKind {
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
  { tree, tx, identities }: WriteContext,
  path: string,
  data: Buffer | null,
  version: number,
): Stat {
  requirePath(path)
  const node = tree.get(path)
  requirePermission(node.acl, perms.write, identities)
  requireVersion(node.version, version)
  return statOf(tree.setData(tx, path, data))
}

export function setACL({ tree, tx, identities }: WriteContext, path: string, acl: ACL[] | null, version: number): Stat {
  requirePath(path)
  const kept = fixupACL(acl, identities)
  const node = tree.get(path)
  requirePermission(node.acl, perms.admin, identities)
  requireVersion(node.aversion, version)
  return statOf(tree.setACL(tx, path, kept))
}

export function check({ tree, identities }: WriteContext, path: string, version: number): void {
  requirePath(path)
  const node = tree.get(path)
  requirePermission(node.acl, perms.read, identities)
  requireVersion(node.version, version)
}

type Outcomes = TypeOf<typeof MultiResponse>
type Outcome = Outcomes[number]

/** All of it or nothing. A failure is an outcome too: then there is one error for each operation. */
export function multi(on: WriteContext, items: TypeOf<typeof MultiRequest>): Outcomes {
  const outcomes: Outcome[] = []
  for (const item of items) {
    try {
      outcomes.push(one(on, item))
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      on.tx.rollBack()
      const failed = outcomes.length
      return items.map((_, i) => failure(i < failed ? 'OK' : i === failed ? error.code : 'RUNTIMEINCONSISTENCY'))
    }
  }
  return outcomes
}

function one(on: WriteContext, { type, body }: TypeOf<typeof MultiRequest>[number]): Outcome {
  switch (type) {
    case opcodes.delete:
      remove(on, body.path, body.version)
      return { type, body: {} }
    case opcodes.setData:
      return { type, body: { stat: setData(on, body.path, body.data, body.version) } }
    case opcodes.check:
      check(on, body.path, body.version)
      return { type, body: {} }
    default:
      return createdInMulti(on, type, body)
  }
}

/** In a multi it is not the opcode but the flags that say what is created (Op.Create of the server). */
function createdInMulti(on: WriteContext, type: CreateOpcode, body: CreateRequest): Outcome {
  // Flags that nobody knows count as persistent there, and fail later, by their number.
  const opcode = isTTL(body.flags)
    ? opcodes.createTTL
    : body.flags === createModes.container
      ? opcodes.createContainer
      : opcodes.create
  // The server takes it for a request with a ttl, and stumbles over there being none.
  if (opcode === opcodes.createTTL && type !== opcodes.createTTL) throw new JuteError('a node with a ttl, and no ttl')
  const created = create(on, opcode, opcode === opcodes.createTTL ? body : { ...body, ttl: NO_TTL })
  // 3.8.0 forgets that it was asked for a Stat (ZOOKEEPER-4026).
  const forgets = opcode === opcodes.create && !(on.settings.createdStatInMulti && type === opcodes.create2)
  return forgets ? { type: opcodes.create, body: created } : { type: opcodes.create2, body: created }
}

const failure = (code: ServerErrorCode | 'OK'): Outcome => ({
  type: opcodes.error,
  body: { err: code === 'OK' ? 0 : errnos[code] },
})

/** The parent's path, where there is one to speak of: the whole path is looked at later, if at all. */
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
