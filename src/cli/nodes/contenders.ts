// The locks of zkwire, Curator, kazoo and ZooKeeper: who holds them, and who waits.
import type { Client } from '../../client/index.ts'
import { unlessRefused } from '../../client/recipe-support.ts'
import { hex64, isCode, join, ZooKeeperError } from '../../protocol/index.ts'
import { idIn } from '../../recipes/node/owner-tag.ts'
import { foreignContendersIn } from '../../recipes/queue/dialect.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { readChildren, readEach, walk } from './tree-walk.ts'

/** The role of a contender, as its name says. */
type Role = 'reader' | 'permit' | 'exclusive'

export interface Contender {
  readonly node: string
  readonly role: Role
  readonly sequence: number
  readonly session: string
  /** When the node was created, in milliseconds since 1970. */
  readonly ctime: number
  /** The data of the node, which says who it is. */
  readonly id: string
}

export interface LockInUse {
  readonly path: string
  /** In the order of the queue; at least one. */
  readonly contenders: readonly Contender[]
}

/** The directories of a semaphore: its permits, and the gate in which contenders wait (InterProcessSemaphoreV2). */
const PERMITS = 'leases'
const GATE = 'locks'

/** Returns how many contenders, the first ones, hold the lock. */
export function holdersOf(contenders: readonly Pick<Contender, 'role'>[]): number {
  const firstOther = contenders.findIndex(({ role }) => role === 'exclusive')
  const shared = firstOther === -1 ? contenders.length : firstOther
  return shared === 0 ? Math.min(1, contenders.length) : shared
}

interface ReadOptions {
  readonly watch?: (() => void) | undefined
  readonly signal: AbortSignal
}

/** Reads the queue of a lock of any kind. Waits while there is no connection. */
export async function contendersAt(zk: Client, path: string, options: ReadOptions): Promise<Contender[]> {
  const children = await childrenOf(zk, path, options)
  // Whoever follows a lock may begin before the lock is used.
  if (children === undefined && options.watch === undefined) throw noLock(path)
  const names = children ?? []
  const [some] = names
  if (some !== undefined && contendersIn(names).length === 0) return semaphoreAt(zk, path, names, options)
  return readAll(zk, path, names, options.signal)
}

/**
 * Reads the queue of a semaphore.
 * @throws CommandError if the children of the node, or theirs, show that it is a folder with other nodes
 */
async function semaphoreAt(zk: Client, path: string, names: readonly string[], options: ReadOptions) {
  if (!isSemaphore(names))
    throw notALock(
      path,
      names.find(name => name !== PERMITS && name !== GATE),
    )
  const [permits, gate] = await Promise.all([PERMITS, GATE].map(name => childrenOf(zk, join(path, name), options)))
  const lists = [permits, gate].filter(each => each !== undefined)
  if (lists.some(each => contendersIn(each).length < each.length)) throw notALock(path, names[0])
  // Any folder may have one of these names, and a semaphore in use has both. Whoever follows one may see it begin.
  const isTaken = permits !== undefined && permits.length > 0
  if (names.length === 1 && !isTaken && options.watch === undefined) throw notALock(path, names[0])
  const [first, waiting] = await Promise.all([
    readAll(zk, join(path, PERMITS), permits ?? [], options.signal),
    readAll(zk, join(path, GATE), gate ?? [], options.signal),
  ])
  // The contender in the gate that has taken a permit is in both.
  return [...first, ...waiting.filter(({ session }) => first.every(each => each.session !== session))]
}

/**
 * Yields the locks below a node, in the order of their paths, that somebody holds or waits for. A node is one if its
 * children are contenders and ephemeral.
 */
export async function* locksBelow(
  zk: Client,
  root: string,
  signal: AbortSignal,
): AsyncGenerator<LockInUse, void, undefined> {
  let semaphore: string | undefined
  for await (const { path, value } of walk(root, readChildren(zk, signal))) {
    const names = value?.children ?? []
    if (semaphore !== undefined && [PERMITS, GATE].some(name => path === join(semaphore ?? '', name))) continue
    const mayBeSemaphore = names.includes(PERMITS) && isSemaphore(names)
    if (!mayBeSemaphore && contendersIn(names).length === 0) continue
    const contenders = await contendersAt(zk, path, { signal }).catch((error: unknown) => {
      // The lock was deleted, or its last contender has left, since its children were listed.
      if (isCode(error, 'NONODE') || error instanceof CommandError) return undefined
      throw error
    })
    if (contenders === undefined) continue
    if (mayBeSemaphore) semaphore = path
    // The items of a queue have such names too, and are not ephemeral.
    const held = contenders.filter(({ session }) => session !== hex64(0n))
    if (held.length > 0) yield { path, contenders: held }
  }
}

/** Lists a directory. Returns undefined if it does not exist. */
async function childrenOf(zk: Client, path: string, options: ReadOptions): Promise<readonly string[] | undefined> {
  const { signal } = options
  for (;;) {
    const list = await unlessRefused(
      zk.retry(() => zk.getChildren(path, options), { signal }),
      'NONODE',
    )
    if (list !== undefined) return list.children
    if (options.watch === undefined || (await zk.retry(() => zk.exists(path, options), { signal })) === null)
      return undefined
  }
}

const noLock = (path: string): ZooKeeperError =>
  new ZooKeeperError('NONODE', {
    ...{ op: 'who', path, fate: 'refused' },
    detail: 'nobody has used this lock, or the server has deleted its container while it was free',
  })

const notALock = (path: string, child = ''): CommandError =>
  new CommandError(
    statuses.refused,
    `${path} is no lock: its children, such as ${child}, are no contenders; for a lock below it, try ${join(path, child)}`,
  )

/** True if the children may be those of a semaphore. It lacks the permits until one is taken. */
const isSemaphore = (names: readonly string[]): boolean => names.every(name => name === PERMITS || name === GATE)

/** All contenders are foreign to a lock that knows no names. */
const contendersIn = (names: readonly string[]): string[] => foreignContendersIn(names, { sequenceOf: () => undefined })

async function readAll(zk: Client, directory: string, names: readonly string[], signal: AbortSignal) {
  const all = await readEach(contendersIn(names), name => read(zk, directory, name, signal))
  return all.filter(each => each !== undefined).sort((a, b) => a.sequence - b.sequence)
}

async function read(zk: Client, directory: string, name: string, signal: AbortSignal): Promise<Contender | undefined> {
  const node = join(directory, name)
  const found = await unlessRefused(
    zk.retry(() => zk.getData(node, { signal }), { signal }),
    'NONODE',
  )
  if (found === undefined) return undefined
  const { data, stat } = found
  return {
    ...{ node, role: roleOf(name), sequence: sequenceOf(name), id: idIn(data) },
    ...{ session: hex64(stat.ephemeralOwner), ctime: stat.ctime },
  }
}

/** Returns the number that the server appended to the name, which may be negative. */
export const sequenceOf = (name: string): number => Number(/[-_](-?\d{9,10})$/.exec(name)?.[1])

export function roleOf(name: string): Role {
  if (/__(READ|rlock)__/.test(name)) return 'reader'
  return name.includes('-lease-') ? 'permit' : 'exclusive'
}
