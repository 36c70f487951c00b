// Quotas: for each path that has one, the server counts the nodes and bytes in a node below /zookeeper/quota
// (DataTree.updateQuotaStat, ZooKeeperServer.checkQuota).
import { parentOf } from '../../protocol/index.ts'
import { RequestError } from './request-error.ts'
import type { TreeTransaction } from './transaction.ts'
import type { Node, Tree } from './tree.ts'

/** What a change adds. */
interface Difference {
  nodes: number
  bytes: number
}

type Counts = ReadonlyMap<string, number>

const ROOT = '/zookeeper/quota'
const LIMITS = 'zookeeper_limits'
const COUNTS = 'zookeeper_stats'

/**
 * Throws QUOTAEXCEEDED if the change would exceed a hard limit. The server compares with the counts before the
 * transaction, so all operations of a multi together may exceed a limit.
 */
export function requireQuota(tree: Tree, tx: TreeTransaction, path: string, { nodes, bytes }: Difference): void {
  const base = quotaOf(tree, path)
  const countsNode = countsIn(tree, base)
  if (countsNode === undefined) return
  const limits = parse(tree.find(`${base}/${LIMITS}`)?.data)
  const counts = tx.quotaCounts.get(countsNode) ?? parse(countsNode.data)
  const exceeds = (limit: number, value: number, added: number) => added !== 0 && limit > -1 && value + added > limit
  if (
    exceeds(get(limits, 'countHardLimit'), get(counts, 'count'), nodes) ||
    exceeds(get(limits, 'byteHardLimit'), get(counts, 'bytes'), bytes)
  )
    throw new RequestError('QUOTAEXCEEDED')
}

/** Counts a change that has been made. Changes no Stat and fires no watch. */
export function countChange(tree: Tree, tx: TreeTransaction, path: string, { nodes, bytes }: Difference): void {
  if (nodes > 0 && path.startsWith(`${ROOT}/`) && path.endsWith(`/${COUNTS}`)) countAll(tree, tx, path)
  const node = countsIn(tree, quotaOf(tree, path))
  if (node === undefined) return
  const counts = parse(node.data)
  if (!tx.quotaCounts.has(node)) tx.quotaCounts.set(node, counts)
  store(
    tx,
    node,
    new Map([...counts, ['count', get(counts, 'count') + nodes], ['bytes', get(counts, 'bytes') + bytes]]),
  )
}

/** Replaces the data of a new node of counts by the actual counts. */
function countAll(tree: Tree, tx: TreeTransaction, path: string): void {
  const node = tree.find(path)
  let [count, bytes] = [0, 0]
  // The list grows while the loop runs. A recursion could overflow the stack, because a tree can be deep.
  const paths = [path.slice(ROOT.length, -COUNTS.length - 1)]
  for (const each of paths) {
    const found = tree.find(each)
    if (found === undefined) continue
    count++
    bytes += found.data?.length ?? 0
    for (const name of found.children) paths.push(`${each}/${name}`)
  }
  if (node !== undefined) store(tx, node, new Map(Object.entries({ count, bytes })))
}

/** Returns the path of the quota's node: for the path itself, or else for its nearest ancestor that has a quota. */
function quotaOf(tree: Tree, path: string): string | undefined {
  // Nearly all trees have no quota.
  if (tree.find(ROOT)?.children.size === 0) return undefined
  for (let each = path; each !== '/'; each = parentOf(each))
    if (tree.find(`${ROOT}${each}/${LIMITS}`) !== undefined) return ROOT + each
  return undefined
}

/** Returns the node with the counts of a quota. */
const countsIn = (tree: Tree, quota: string | undefined): Node | undefined =>
  quota === undefined ? undefined : tree.find(`${quota}/${COUNTS}`)

function store(tx: TreeTransaction, node: Node, counts: Counts): void {
  const { data } = node
  node.data = Buffer.from(format(counts))
  tx.record(() => {
    node.data = data
  })
}

const get = (counts: Counts, name: string): number => counts.get(name) ?? -1

/** Parses 'count=3,bytes=20'. Hard limits follow after '=;' (StatsTrack). */
function parse(data: Buffer | null | undefined): Counts {
  const pairs = (data?.toString() ?? '').split(/[,;]+/).map(pair => pair.split('='))
  return new Map(pairs.map(([name = '', value = '']) => [name, /^-?\d+$/.test(value) ? Number(value) : -1]))
}

function format(counts: Counts): string {
  const others = [...counts].filter(([name]) => !['', 'count', 'bytes'].includes(name))
  const rest = others
    .map(([name, value]) => `;${name}=${value}`)
    .sort()
    .join('')
  return `count=${get(counts, 'count')},bytes=${get(counts, 'bytes')}${rest && `=${rest}`}`
}
