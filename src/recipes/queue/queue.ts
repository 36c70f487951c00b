// A directory in which contenders stand as nodes.
import { newUuid } from '../../client/recipe-support.ts'
import { isCode, join, type ACL, type Stat } from '../../protocol/index.ts'
import type { Client, Data, ReadOptions } from '../../client/index.ts'
import { isExhausted, type Names } from './dialect.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { LockError } from '../node/lock-error.ts'
import { isTagged, tag, untag } from '../node/owner-tag.ts'
import type { Found, NodeFactory } from '../node/own-node.ts'
import { everyone, type Blocks } from './turn.ts'

export interface LockQueue {
  readonly client: Client
  readonly directory: string
  readonly names: Names
  readonly data: Data
  readonly acl: readonly ACL[] | undefined
  /** Who of those that came earlier is in the way. */
  readonly blocks: Blocks
  /** Of the directory, where it is made. A container goes when it is empty, and its numbers begin anew. */
  readonly directoryMode: 'container' | 'persistent'
}

/** One in the queue. */
export interface ContenderNode {
  path: string
  sequence: number
  data: Buffer | null
  session: bigint
}

interface QueueOptions {
  data?: Data | undefined
  acl?: readonly ACL[] | undefined
  blocks?: Blocks
  directoryMode?: 'container' | 'persistent'
}

export function queueOf(
  client: Client,
  directory: string,
  names: Names,
  { data = '', acl, blocks = everyone, directoryMode = 'container' }: QueueOptions,
): LockQueue {
  // A view of its own: the caller may close theirs, or remove the watches on some path, and the lock's node must go all the same.
  return { client: client.chroot('/'), directory, names, data, acl, blocks, directoryMode }
}

export interface Children {
  readonly children: readonly string[]
  /**
   * The transaction that made the directory. A node that is older has gone with another directory of that path, whoever bears its name
   * now: numbers begin anew in each.
   */
  readonly madeBy: bigint
}

/** The names in the directory; none where it does not exist (any more). */
export async function listChildren({ client, directory }: LockQueue, options: ReadOptions = {}): Promise<Children> {
  try {
    const { children, stat } = await client.getChildren(directory, options)
    return { children, madeBy: stat.czxid }
  } catch (error) {
    if (isCode(error, 'NONODE')) return { children: [], madeBy: 0n }
    throw error
  }
}

export const childNames = async (queue: LockQueue, options?: ReadOptions): Promise<readonly string[]> =>
  (await listChildren(queue, options)).children

/** Requests in flight for a long list: the session's other callers are to have their turn. */
const AT_ONCE = 100

/** Reads the nodes of those names; those that are gone meanwhile are left out. */
export async function readNodes({ client, directory }: LockQueue, names: readonly string[]) {
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
  for (let i = 0; i < names.length; i += AT_ONCE)
    nodes.push(...(await Promise.all(names.slice(i, i + AT_ONCE).map(read))).flat())
  return nodes
}

/** Who stands in the queue, in its order. */
export async function contendersIn(queue: LockQueue): Promise<ContenderNode[]> {
  const numberOf = (name: string) => queue.names.sequenceOf(name)
  const inLine = (await childNames(queue)).filter(name => numberOf(name) !== undefined)
  const nodes = await readNodes(queue, inLine)
  return nodes
    .map(({ name, path, data, stat }) => ({
      path,
      sequence: numberOf(name) ?? NaN,
      data: queue.names.areUnique ? data : untag(data),
      session: stat.ephemeralOwner,
    }))
    .sort((a, b) => a.sequence - b.sequence)
}

/** Sends the create of a node whose path begins so. */
export type Create = (path: string, data: Data) => Promise<Found>

/** The place at the end of the queue, or where `create` puts it. */
export function endOfQueue(queue: LockQueue, create?: Create): NodeFactory {
  const { client, directory, directoryMode, data, acl, names } = queue
  const append: Create = (path, content) =>
    client.create(path, content, { mode: 'ephemeralSequential', ...(acl && { acl }) }).catch((error: unknown) => {
      // The counter sticks at its end, and somebody bears its last number.
      throw isCode(error, 'NODEEXISTS') ? new LockError('EXHAUSTED', directory, { cause: error }) : error
    })
  const uuid = newUuid(client)
  const prefix = names.prefix(uuid, client.sessionId)
  const content = names.areUnique ? data : tag(uuid, data)
  const isOwn = (stat: Stat) => stat.ephemeralOwner === client.sessionId
  /** A name with a uuid is proof enough: there is one such, if any, and one may not be allowed to read it. */
  const findByName = async (name: string | undefined): Promise<Found | undefined> => {
    if (name === undefined) return undefined
    const path = join(directory, name)
    try {
      const stat = await client.exists(path)
      return stat !== null && isOwn(stat) ? { path, stat } : undefined
    } catch (error) {
      // Not even to be looked at (ZOOKEEPER-2590), it has no token to be held by, and must not stay.
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
      // A pattern that leaves the number to its last ten digits does not see the sign of a negative one, which makes it longer.
      const isNegative = name.length > prefix.length + 10
      if (isNegative || isExhausted(names.sequenceOf(name))) throw new LockError('EXHAUSTED', directory)
    },
  }
}
