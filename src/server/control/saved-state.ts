// The state of a server as text, and the file of it: JSON, with one line for each session and each node. Most fields of a
// node may be missing, so that a test can write its first nodes by hand. node:fs is imported only if a file is used,
// because not every runtime has files.
import { hex64, pathProblem, perms, type ACL } from '../../protocol/index.ts'
import { aBoolean, aString, mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import type { Database } from '../database/database.ts'
import type { Sessions } from '../database/sessions.ts'
import type { Node, NodeKind } from '../database/tree.ts'

/** The data of a server, which its saved state contains. */
export interface ServerData {
  readonly database: Database
  readonly sessions: Pick<Sessions, 'all' | 'get' | 'restore'>
}

const FORMAT = 'zkwire-server-1'

interface SavedSession {
  id: string
  /** The password in base64. */
  password: string
  timeout: number
}

interface SavedNode {
  path: string
  /** The data as text. Default: no bytes. */
  data?: string | null
  /** The data in base64, if it is not UTF-8. */
  base64?: string
  /** Default: every client may do everything. */
  acl?: readonly { perms: number; scheme: string; id: string }[]
  ephemeralOwner?: string
  container?: boolean
  ttl?: number
  /** The number of children ever created, which is the next sequence number. Default: the number of children. */
  created?: number
  version?: number
  aversion?: number
  czxid?: string
  mzxid?: string
  pzxid?: string
  /** Milliseconds since 1970. Default: now. */
  ctime?: number
  mtime?: number
}

interface SavedState {
  format: string
  zxid?: string
  sessions?: readonly SavedSession[]
  nodes: readonly SavedNode[]
}

const isInt = (value: number) => Number.isInteger(value) && (value | 0) === value
const int = mustBe('a 32-bit integer', isInt)
const time = mustBe('milliseconds since 1970', Number.isSafeInteger)
const hex = mustBe("a string such as '0x1f'", (value: unknown) => /^0x[0-9a-f]{1,16}$/.test(String(value)))
const list = mustBe('a list', Array.isArray)

const stateChecks: Checks<SavedState> = {
  format: mustBe(`'${FORMAT}'`, value => value === FORMAT),
  ...{ zxid: hex, sessions: list, nodes: list },
}
const sessionChecks: Checks<SavedSession> = { id: hex, password: aString, timeout: int }
const nodeChecks: Checks<SavedNode> = {
  path: value => (typeof value === 'string' ? pathProblem(value) : aString(value)),
  data: value => (value === null ? undefined : aString(value)),
  ...{ base64: aString, acl: list, ephemeralOwner: hex, ttl: time },
  container: aBoolean,
  ...{ created: int, version: int, aversion: int, czxid: hex, mzxid: hex, pzxid: hex, ctime: time, mtime: time },
}
const aclChecks: Checks<{ perms: number; scheme: string; id: string }> = { perms: int, scheme: aString, id: aString }

/** Returns the nodes, the sessions and the last zxid of a server as text. */
export function encodeState({ database: { tree, zxid }, sessions }: ServerData): string {
  const sessionLines = [...sessions.all].map(({ id, password, timeout }) =>
    JSON.stringify({ id: hex64(id), password: password.toString('base64'), timeout } satisfies SavedSession),
  )
  const nodeLines = [...tree.entries].map(([path, node]) => JSON.stringify(savedNode(path, node)))
  const lists = [sessionLines, nodeLines].map(lines => `[\n${lines.join(',\n')}\n]`)
  return `{"format": "${FORMAT}", "zxid": "${hex64(zxid)}", "sessions": ${lists.join(', "nodes": ')}}\n`
}

/**
 * Adds the nodes and sessions of a text to a new server.
 * @param now milliseconds since 1970
 * @throws Error if the text is not such a state; its message says where
 */
export function restoreState({ database, sessions }: ServerData, json: string, now: number): void {
  const state = JSON.parse(json.replace(/^\ufeff/, '')) as SavedState
  requireFields(state, stateChecks, ['format', 'nodes'], 'the state')
  for (const [i, session] of (state.sessions ?? []).entries()) {
    requireFields(session, sessionChecks, ['id', 'password', 'timeout'], `sessions[${i}]`)
    const { id, password, timeout } = session
    sessions.restore(idOf(id), Buffer.from(password, 'base64'), timeout)
  }
  const { tree } = database
  for (const [i, saved] of state.nodes.entries()) {
    const where = `nodes[${i}]`
    requireFields(saved, nodeChecks, ['path'], where)
    const { path, acl = [] } = saved
    for (const [k, entry] of acl.entries())
      requireFields(entry, aclChecks, ['perms', 'scheme', 'id'], `${where}.acl[${k}]`)
    const problem = tree.restore(path, restoredNode(saved, now))
    if (problem !== undefined) throw new Error(`${where}: ${problem}`)
    const { ephemeralOwner: owner } = saved
    if (owner !== undefined && sessions.get(idOf(owner)) === undefined)
      throw new Error(`${where}: there is no session ${owner}`)
  }
  const counters = new Map(state.nodes.map(({ path, created }) => [path, created]))
  for (const [path, node] of tree.entries) node.created = counters.get(path) ?? tree.createdBelow(path)
  const zxids = [...tree.entries].flatMap(([, { czxid, mzxid, pzxid }]) => [czxid, mzxid, pzxid])
  database.startAfter([BigInt(state.zxid ?? 0), ...zxids].reduce((last, each) => (each > last ? each : last)))
}

function savedNode(path: string, node: Node): SavedNode {
  const { data, acl, kind, created, version, aversion, ctime, mtime } = node
  const utf8 = data?.toString() ?? null
  const isText = utf8 === null || Buffer.from(utf8).equals(data ?? Buffer.alloc(0))
  return {
    path,
    ...(isText ? { data: utf8 } : { base64: data?.toString('base64') ?? '' }),
    acl: acl.map(({ perms, id: { scheme, id } }) => ({ perms, scheme, id })),
    ...(kind.is === 'ephemeral' && { ephemeralOwner: hex64(kind.session) }),
    ...(kind.is === 'container' && { container: true }),
    ...(kind.is === 'ttl' && { ttl: kind.ttl }),
    ...{ created, version, aversion },
    ...{ czxid: hex64(node.czxid), mzxid: hex64(node.mzxid), pzxid: hex64(node.pzxid), ctime, mtime },
  }
}

function restoredNode(saved: SavedNode, now: number): Omit<Node, 'children' | 'created'> {
  const { data = '', base64, acl, version = 0, aversion = 0, ctime = now, mtime = ctime } = saved
  const { czxid = '0x0', mzxid = czxid, pzxid = czxid } = saved
  const text = data === null ? null : Buffer.from(data)
  return {
    data: base64 === undefined ? text : Buffer.from(base64, 'base64'),
    acl: acl?.map(({ perms, scheme, id }): ACL => ({ perms, id: { scheme, id } })) ?? OPEN_ACL,
    kind: kindOf(saved),
    ...{ version, aversion, czxid: BigInt(czxid), mzxid: BigInt(mzxid), pzxid: BigInt(pzxid), ctime, mtime },
  }
}

const OPEN_ACL: readonly ACL[] = [{ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }]

function kindOf({ ephemeralOwner, container, ttl }: SavedNode): NodeKind {
  if (ephemeralOwner !== undefined) return { is: 'ephemeral', session: idOf(ephemeralOwner) }
  if (ttl !== undefined) return { is: 'ttl', ttl }
  return container === true ? { is: 'container' } : { is: 'persistent' }
}

const idOf = (hex: string): bigint => BigInt.asIntN(64, BigInt(hex))

/** @throws Error if a field is missing, unknown or wrong */
function requireFields<T extends object>(
  value: T,
  checks: Checks<T>,
  required: readonly (keyof T & string)[],
  where: string,
): void {
  const [missing] = required.filter(name => value[name] === undefined)
  const problem = optionsProblem(value, checks) ?? (missing && `${missing} is missing`)
  if (problem !== undefined) throw new Error(`${where}: ${problem}`)
}

/** Returns the text of the file, or undefined if the file does not exist. */
export async function readData(file: string): Promise<string | undefined> {
  const { readFile } = await import('node:fs/promises')
  return readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw error
  })
}

/** Replaces the file by a whole new one. Only its owner may read it, because it contains passwords of sessions. */
export async function writeData(file: string, text: string): Promise<void> {
  const { rename, writeFile } = await import('node:fs/promises')
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
