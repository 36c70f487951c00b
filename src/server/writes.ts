// What changes the tree: the rules of each operation, in the order in which the server asks them (PrepRequestProcessor).
import {
  createModes,
  errnos,
  JuteError,
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
import { demand, keptACL } from './acl.ts'
import { Refusal } from './refusal.ts'
import type { Transaction } from './transaction.ts'
import { sequenceSuffix, specialPaths, statOf, type Life, type Tree } from './tree.ts'

/** What a write is done on, and in whose name. */
export interface Writing {
  tree: Tree
  tx: Transaction
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

export interface Creation {
  path: string
  data: Buffer | null
  acl: ACL[] | null
  flags: number
  ttl?: number
}

type CreateOpcode = (typeof opcodes)['create' | 'create2' | 'createContainer' | 'createTTL']

const { persistentSequential, ephemeralSequential, persistentTTL, persistentSequentialTTL } = createModes
const isEphemeral = (flags: number) => flags === createModes.ephemeral || flags === ephemeralSequential
const isTTL = (flags: number) => flags === persistentTTL || flags === persistentSequentialTTL
const isSequential = (flags: number) =>
  flags === persistentSequential || flags === ephemeralSequential || flags === persistentSequentialTTL

export function create(on: Writing, opcode: CreateOpcode, asked: Creation): { path: string; stat: Stat } {
  const { tree, tx, identities } = on
  demandMode(on.settings, opcode, asked)
  const life = lifeOf(on.session, opcode, asked)
  const parentPath = checkedParent(asked.path)
  const acl = keptACL(asked.acl, identities)
  const parent = tree.get(parentPath)
  demand(parent.acl, perms.create, identities)
  const path = isSequential(asked.flags) ? asked.path + sequenceSuffix(tree.counter(tx, parent)) : asked.path
  demandPath(path)
  if (tree.find(path) !== undefined) throw new Refusal('NODEEXISTS')
  if (parent.life.is === 'ephemeral') throw new Refusal('NOCHILDRENFOREPHEMERALS')
  return { path, stat: statOf(tree.create(tx, path, { data: asked.data, acl, life })) }
}

/** There is such a mode, the server allows it, and it is given a ttl if it takes one. */
function demandMode({ extendedTypes }: WriteSettings, opcode: CreateOpcode, { flags, ttl = NO_TTL }: Creation): void {
  if (flags < 0 || flags > persistentSequentialTTL) throw new Refusal('BADARGUMENTS')
  if (isTTL(flags) && !extendedTypes) throw new Refusal('UNIMPLEMENTED')
  const isFitting = isTTL(flags) ? ttl > 0 && ttl <= LONGEST_TTL : ttl < 0
  // 3.8.0 takes a createTTL of a ttl of -1 with another mode, and stops itself over it.
  if (!isFitting || (opcode === opcodes.createTTL && !isTTL(flags))) throw new Refusal('BADARGUMENTS')
}

/** Containers and nodes with a ttl are known by the opcode, and ephemeral nodes by the flags. */
function lifeOf(session: bigint, opcode: CreateOpcode, { flags, ttl = NO_TTL }: Creation): Life {
  if (opcode === opcodes.createContainer) return { is: 'container' }
  if (opcode === opcodes.createTTL) return { is: 'ttl', ttl }
  return isEphemeral(flags) ? { is: 'ephemeral', session } : { is: 'persistent' }
}

const NO_TTL = -1
/** EphemeralType.TTL: what is left of an ephemeralOwner's bits. */
const LONGEST_TTL = 0xff_ffff_ffff

export function remove({ tree, tx, identities }: Writing, path: string, version: number): void {
  const parentPath = checkedParent(path)
  if (specialPaths.has(path)) throw new Refusal('BADARGUMENTS')
  demand(tree.get(parentPath).acl, perms.delete, identities)
  const node = tree.get(path)
  demandVersion(node.version, version)
  if (node.children.size > 0) throw new Refusal('NOTEMPTY')
  tree.delete(tx, path)
}

export function setData({ tree, tx, identities }: Writing, path: string, data: Buffer | null, version: number): Stat {
  demandPath(path)
  const node = tree.get(path)
  demand(node.acl, perms.write, identities)
  demandVersion(node.version, version)
  return statOf(tree.setData(tx, path, data))
}

export function setACL({ tree, tx, identities }: Writing, path: string, acl: ACL[] | null, version: number): Stat {
  demandPath(path)
  const kept = keptACL(acl, identities)
  const node = tree.get(path)
  demand(node.acl, perms.admin, identities)
  demandVersion(node.aversion, version)
  return statOf(tree.setACL(tx, path, kept))
}

export function check({ tree, identities }: Writing, path: string, version: number): void {
  demandPath(path)
  const node = tree.get(path)
  demand(node.acl, perms.read, identities)
  demandVersion(node.version, version)
}

type Outcomes = TypeOf<typeof MultiResponse>
type Outcome = Outcomes[number]

/** All of it or nothing. A failure is an outcome too: then there is one error for each operation. */
export function multi(on: Writing, items: TypeOf<typeof MultiRequest>): Outcomes {
  const outcomes: Outcome[] = []
  for (const item of items) {
    try {
      outcomes.push(one(on, item))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      on.tx.rollBack()
      const failed = outcomes.length
      return items.map((_, i) => failure(i < failed ? 'OK' : i === failed ? error.code : 'RUNTIMEINCONSISTENCY'))
    }
  }
  return outcomes
}

function one(on: Writing, { type, body }: TypeOf<typeof MultiRequest>[number]): Outcome {
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
function createdInMulti(on: Writing, type: CreateOpcode, body: Creation): Outcome {
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
  if (!path.includes('/') || path.includes('\0')) throw new Refusal('BADARGUMENTS')
  return parentOf(path)
}

function demandPath(path: string): void {
  if (pathProblem(path) !== undefined) throw new Refusal('BADARGUMENTS')
}

function demandVersion(actual: number, expected: number): void {
  if (expected !== -1 && expected !== actual) throw new Refusal('BADVERSION')
}
