// A lock's queue: a directory whose children are the contenders.
import { newUuid } from '../../client/recipe-support.ts'
import { isCode, join, type ACL, type Stat } from '../../protocol/index.ts'
import type { Client, ReadOptions } from '../../client/index.ts'
import { isExhausted, type Names } from './dialect.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { RecipeError } from '../node/recipe-error.ts'
import { idIn, isTagged, tag } from '../node/owner-tag.ts'
import type { Found, NodeFactory } from '../node/own-node.ts'
import { blocksAlways, type Blocks } from './turn.ts'

export interface LockQueue {
  readonly client: Client
  readonly directory: string
  readonly names: Names
  readonly id: string
  readonly acl: readonly ACL[] | undefined
  readonly blocks: Blocks
  /**
   * The mode in which the directory is created. The server deletes an empty container. The numbers in the next
   * directory of that path start at 0 again.
   */
  readonly directoryMode: 'container' | 'persistent'
}

/**
 * A contender: the holder or a waiter.
 * @example
 * const lock = new Mutex(zk, '/locks/orders', { id: 'host-1' })
 * await using held = await lock.acquire()
 * const [holder]: ContenderNode[] = await lock.contenders()
 * holder?.session // => zk.sessionId
 */
export interface ContenderNode {
  /** The path of its node, which `revoke()` takes. */
  path: string
  /** The number of its node. Contenders with lower numbers are earlier in the queue. */
  sequence: number
  /** Its option `id`. If another library created the node: the node's data as a string. */
  id: string
  /** The id of its session. */
  session: bigint
}

interface QueueOptions {
  id?: string | undefined
  acl?: readonly ACL[] | undefined
  blocks?: Blocks | undefined
  directoryMode?: 'container' | 'persistent' | undefined
}

export function queueOf(
  client: Client,
  directory: string,
  names: Names,
  { id = '', acl, blocks = blocksAlways, directoryMode = 'container' }: QueueOptions,
): LockQueue {
  // Uses a separate view, because callers may close theirs or remove its watches; the lock must still remove its node.
  return { client: client.chroot('/'), directory, names, id, acl, blocks, directoryMode }
}

export interface Children {
  readonly children: readonly string[]
  /**
   * The transaction that created the directory. An older node was deleted together with an earlier directory of the
   * same path. Each directory starts its numbers again, so another node may have the same name now.
   */
  readonly directoryCzxid: bigint
}

/** The part of a queue that reads need. */
export type Directory = Pick<LockQueue, 'client' | 'directory'>

/** Lists the directory. Returns no children if it does not exist. */
export async function listChildren({ client, directory }: Directory, options: ReadOptions = {}): Promise<Children> {
  try {
    const { children, stat } = await client.getChildren(directory, options)
    return { children, directoryCzxid: stat.czxid }
  } catch (error) {
    if (isCode(error, 'NONODE')) return { children: [], directoryCzxid: 0n }
    throw error
  }
}

export const childNames = async (queue: LockQueue, options?: ReadOptions): Promise<readonly string[]> =>
  (await listChildren(queue, options)).children

/** The largest number of reads in flight for one list. More would delay the other requests of the session. */
const READS_IN_FLIGHT = 100

/** Reads the nodes of these names, and leaves out those that do not exist any more. */
export async function readNodes({ client, directory }: Directory, names: readonly string[]) {
  const read = async (name: string) => {
    const path = join(directory, name)
    try {
      return [{ name, path, ...(await client.getData(path)) }]
    } catch (error) {
      if (isCode(error, 'NONODE')) return []
      throw error
    }
  }
  const nodes = []
  for (let i = 0; i < names.length; i += READS_IN_FLIGHT)
    nodes.push(...(await Promise.all(names.slice(i, i + READS_IN_FLIGHT).map(read))).flat())
  return nodes
}

/** Reads all contenders, in the order of the queue. */
export async function contendersIn(queue: LockQueue): Promise<ContenderNode[]> {
  const numberOf = (name: string) => queue.names.sequenceOf(name)
  const contenders = (await childNames(queue)).filter(name => numberOf(name) !== undefined)
  const nodes = await readNodes(queue, contenders)
  return nodes
    .map(({ name, path, data, stat }) => ({
      path,
      sequence: numberOf(name) ?? NaN,
      id: queue.names.areUnique ? (data?.toString() ?? '') : idIn(data),
      session: stat.ephemeralOwner,
    }))
    .sort((a, b) => a.sequence - b.sequence)
}

/** Sends the create of a node whose path begins with `path`. */
export type Create = (path: string, data: string) => Promise<Found>

/** Returns a factory of contenders at the end of the queue, or at the place that `create` chooses. */
export function nodeFactoryOf(queue: LockQueue, create?: Create): NodeFactory {
  const { client, directory, directoryMode, id, acl, names } = queue
  const append: Create = (path, content) =>
    client.create(path, content, { mode: 'ephemeralSequential', acl }).catch((error: unknown) => {
      // The counter stays at its maximum, and a node has that number already.
      throw isCode(error, 'NODEEXISTS') ? new RecipeError('EXHAUSTED', directory, { cause: error }) : error
    })
  const uuid = newUuid(client)
  const prefix = names.prefix(uuid, client.sessionId)
  const content = names.areUnique ? id : tag(uuid, id)
  const isOwn = (stat: Stat) => stat.ephemeralOwner === client.sessionId
  /** The uuid in the name identifies the node. So its data is not read, because the ACL may forbid that. */
  const findByName = async (name: string | undefined): Promise<Found | undefined> => {
    if (name === undefined) return undefined
    const path = join(directory, name)
    try {
      const stat = await client.exists(path)
      return stat !== null && isOwn(stat) ? { path, stat } : undefined
    } catch (error) {
      // The server may refuse exists() (ZOOKEEPER-2590). Without the node's Stat there is no token, so delete the node.
      if (isCode(error, 'NOAUTH')) await client.delete(path)
      throw error
    }
  }
  return {
    client,
    isUnique: names.areUnique,
    create: () => (create ?? append)(join(directory, prefix), content),
    async find() {
      const [, children] = await Promise.all([client.sync(directory), childNames(queue)])
      const candidates = children.filter(name => name.startsWith(prefix))
      if (names.areUnique) return findByName(candidates[0])
      const nodes = await readNodes(queue, candidates)
      return nodes.find(({ data, stat }) => isOwn(stat) && isTagged(data, uuid))
    },
    ensureParent: signal => ensureDirectory(client, directory, { mode: directoryMode, acl, signal }),
    check({ name }) {
      // A pattern that matches only the last ten digits misses the sign of a negative number, so the name's length
      // decides.
      const isNegative = name.length > prefix.length + 10
      if (isNegative || isExhausted(names.sequenceOf(name))) throw new RecipeError('EXHAUSTED', directory)
    },
  }
}
