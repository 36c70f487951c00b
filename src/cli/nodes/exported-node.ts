// The lines of an export, for `export`, `import`, `diff`, and the seed of `serve`: one node each, and then the end.
import { openACL } from '../../client/index.ts'
import { pathProblem, type ACL } from '../../protocol/index.ts'
import { aclEntriesOf, aclText } from './acl-text.ts'
import { escaped, jsonData } from '../runner/text.ts'

export interface ExportedNode {
  readonly path: string
  readonly data: Buffer | null
  readonly acl: readonly ACL[]
  /** Servers do not tell clients which nodes are containers or have a ttl, so `export` writes neither. */
  readonly kind: 'persistent' | 'container' | 'ttl'
  /** In milliseconds, for the kind `ttl`. */
  readonly ttl: number | undefined
}

/** Returns the line of a node, without a line break. All control characters are escaped, because a terminal may show it. */
export const lineOf = ({ path, data, acl }: Pick<ExportedNode, 'path' | 'data' | 'acl'>): string =>
  escaped(JSON.stringify({ path, ...jsonData(data), acl: acl.map(aclJson) }))

/** An entry as text, or as an object if the text would be read as another entry, or as several. */
function aclJson(entry: ACL): unknown {
  const text = aclText(entry)
  const [read, ...others] = aclEntriesOf(text) ?? []
  const isSame = read?.id.scheme === entry.id.scheme && read.id.id === entry.id.id && read.perms === entry.perms
  return isSame && others.length === 0 ? text : { ...entry.id, perms: entry.perms }
}

/** The last line of an export. Without it, the lines before it may be only a part of the subtree. */
export interface ExportEnd {
  /** The number of the lines before it. */
  readonly nodes: number
  /** The nodes that the session could not read, so that the export lacks them and all nodes below. */
  readonly unreadable: readonly string[]
}

/** Returns the last line of an export, without a line break. */
export const endLineOf = ({ nodes, unreadable }: ExportEnd): string =>
  escaped(JSON.stringify({ nodes, ...(unreadable.length > 0 ? { unreadable } : {}) }))

/**
 * Parses a line. A node may also be written by hand, with a path only.
 * @throws Error that says what is wrong with the line
 */
export function parseLine(line: string): ExportedNode | ExportEnd {
  const value = parseObject(line)
  return 'nodes' in value ? endOf(value) : nodeOf(value)
}

function endOf({ nodes, unreadable = [], ...others }: Readonly<Record<string, unknown>>): ExportEnd {
  requireNone(others)
  if (!Number.isSafeInteger(nodes)) throw new Error('nodes must be the number of lines before the last one')
  if (
    !Array.isArray(unreadable) ||
    unreadable.some(each => typeof each !== 'string' || pathProblem(each) !== undefined)
  )
    throw new Error('unreadable must be a list of paths')
  return { nodes: nodes as number, unreadable: unreadable as string[] }
}

function requireNone(others: object): void {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new Error(`there is no field ${JSON.stringify(unknown)}`)
}

function nodeOf(value: Readonly<Record<string, unknown>>): ExportedNode {
  const { path, data = null, hex, acl, kind = 'persistent', ttl, ...others } = value
  requireNone(others)
  const problem = typeof path === 'string' ? pathProblem(path) : 'the path is missing'
  if (problem !== undefined) throw new Error(problem)
  if (kind !== 'persistent' && kind !== 'container' && kind !== 'ttl')
    throw new Error('the kind must be persistent, container or ttl')
  if ((kind === 'ttl') !== (typeof ttl === 'number'))
    throw new Error('the kind ttl, and no other, needs a number as ttl')
  return { path: path as string, data: dataOf(data, hex), acl: aclOf(acl), kind, ttl: ttl as number | undefined }
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Error('it is no JSON object')
}

function dataOf(data: unknown, hex: unknown): Buffer | null {
  if (hex === undefined && data === null) return null
  if (hex === undefined && typeof data === 'string') return Buffer.from(data)
  if (typeof hex === 'string' && /^(?:[\da-f]{2})*$/i.test(hex) && data === null) return Buffer.from(hex, 'hex')
  throw new Error('data must be a text or null, or hex a text of hexadecimal digits')
}

function aclOf(value: unknown): readonly ACL[] {
  if (value === undefined) return openACL
  const entries = Array.isArray(value) ? value.map(entriesOf) : []
  const valid = entries.filter(each => each !== undefined).flat()
  if (valid.length === 0 || entries.includes(undefined))
    throw new Error('acl must be a list of entries, as "world:anyone:cdrwa"')
  if (valid.some(isHidden))
    throw new Error('its ACL was hidden from the session that exported it: export it as its admin')
  return valid
}

function entriesOf(value: unknown): readonly ACL[] | undefined {
  if (typeof value === 'string') return aclEntriesOf(value)
  const { scheme, id, perms } = Object(value) as Record<string, unknown>
  if (typeof scheme !== 'string' || typeof id !== 'string' || !Number.isInteger(perms)) return undefined
  return [{ perms: perms as number, id: { scheme, id } }]
}

/** The server shows the id user:x to sessions that may not administer the node (PrepRequestProcessor.getACL). */
export const isHidden = ({ id: { scheme, id } }: ACL): boolean => scheme === 'digest' && id.endsWith(':x')
