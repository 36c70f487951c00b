// What every exclusive lock of a queue of nodes offers; they differ in how one waits.
import { isCode, join, type ACL } from '../protocol/index.ts'
import type { Client, Data } from '../session/index.ts'
import { acquire, tryAcquire, type AcquireOptions, type Waiting } from './contend.ts'
import { dialects, sequenceOf, type Dialect, type DialectName } from './dialect.ts'
import type { Held } from './held.ts'
import { LockError } from './lock-error.ts'
import { namesIn, type Queue } from './place.ts'

export interface MutexOptions {
  /** Whose names to use, so as to share the lock with them. All users of one lock must use the same. Default 'curator'. */
  dialect?: DialectName | Dialect
  /** What one's node holds, for people who look: who it is. Default empty. */
  data?: Data
  /** Of one's node, and of a directory that is made. Default: the world may do anything. */
  acl?: readonly ACL[]
}

/** One in the queue. */
export interface ContenderInfo {
  path: string
  sequence: number
  data: Buffer | null
  session: bigint
}

/** Requests in flight for a long list: the session's other callers are to have their turn. */
const AT_ONCE = 100

export class ExclusiveLock {
  readonly path: string
  readonly #queue: Queue
  readonly #waiting: Waiting

  protected constructor(
    client: Client,
    path: string,
    { dialect = 'curator', data = '', acl }: MutexOptions,
    waiting: Waiting,
  ) {
    this.path = path
    this.#waiting = waiting
    const names = typeof dialect === 'string' ? dialects[dialect] : checked(dialect, path)
    // A view of its own: the caller may close theirs, or remove the watches on some path, and the lock's node must go all the same.
    this.#queue = { client: client.chroot('/'), directory: path, dialect: names, data, acl }
  }

  /**
   * Waits for the lock. The directory is made where it is missing.
   * @throws LockError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError, SESSIONEXPIRED and NOAUTH among them. It rejects at once
   * and leaves nothing behind: the node and the watch are taken back in the background, until that is done or the session is over.
   */
  acquire(options: AcquireOptions = {}): Promise<Held> {
    return acquire(this.#queue, this.#waiting, options)
  }

  /** The lock, or null where somebody has it or waits for it; nothing is written then. Throws as {@link acquire}. */
  tryAcquire(options: AcquireOptions = {}): Promise<Held | null> {
    return tryAcquire(this.#queue, this.#waiting, options)
  }

  /**
   * Runs a function while the lock is held, and gives what it gives. The function is to stop when `held.signal` aborts, which it
   * also does when somebody deletes the lock's node.
   */
  async use<T>(fn: (held: Held) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    await using held = await this.acquire({ watchOwnNode: true, ...options })
    return await fn(held)
  }

  /** Who holds the lock and who waits for it, in their order. */
  async contenders(): Promise<ContenderInfo[]> {
    const { client, dialect } = this.#queue
    const all = (await namesIn(this.#queue)).flatMap(name => {
      const sequence = sequenceOf(name, dialect)
      return sequence === undefined ? [] : [{ path: join(this.path, name), sequence }]
    })
    all.sort((a, b) => a.sequence - b.sequence)
    const read: ContenderInfo[] = []
    for (let i = 0; i < all.length; i += AT_ONCE) {
      const some = await Promise.all(all.slice(i, i + AT_ONCE).map(each => this.#describe(client, each)))
      read.push(...some.filter(each => each !== undefined))
    }
    return read
  }

  async #describe(
    client: Client,
    { path, sequence }: { path: string; sequence: number },
  ): Promise<ContenderInfo | undefined> {
    try {
      const { data, stat } = await client.getData(path)
      return { path, sequence, data, session: stat.ephemeralOwner }
    } catch (error) {
      // It left meanwhile.
      if (isCode(error, 'NONODE')) return undefined
      throw error
    }
  }
}

/** A node whose create was not answered is found by its uuid, and a pattern that remembers where it stood would pass over names. */
function checked(dialect: Dialect, path: string): Dialect {
  const uuid = '01234567-89ab-4cde-8f01-23456789abcd'
  if (!dialect.prefix(uuid).replaceAll('-', '').includes(uuid.replaceAll('-', '')))
    throw new LockError('UNSUPPORTED', path, { cause: new Error('the prefix of a dialect must contain the uuid') })
  const { source, flags } = dialect.pattern
  return { prefix: uuid => dialect.prefix(uuid), pattern: new RegExp(source, flags.replace(/[gy]/g, '')) }
}
