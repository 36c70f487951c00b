// The lock that many may hold to read, and one alone to write.
import { checked } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import type { WaitStrategy } from '../queue/wait-strategies.ts'
import type { AcquireOptions } from './lock.ts'
import { watchDirectory } from '../queue/wait-strategies.ts'
import { LockError } from '../node/lock-error.ts'
import { watchPredecessor } from '../queue/wait-strategies.ts'
import type { OwnNode } from '../node/own-node.ts'
import { queueOf, type LockQueue } from '../queue/queue.ts'
import { QueueLock, type LockOptions } from './queue-lock.ts'
import type { OnForeignContenders } from '../queue/foreign-contenders.ts'
import { readWriteNamesOf, type ReadWriteDialect, type ReadWriteDialectName } from './read-write-dialect.ts'
import { ReadHeld, WriteHeld } from './read-write-held.ts'

export interface ReadWriteLockOptions extends LockOptions {
  /** Whose names to use, so as to share the lock with them. All users of one lock must use the same. Default 'curator'. */
  dialect?: ReadWriteDialectName | ReadWriteDialect
  /** Everybody who waits watches the directory, and wakes on each release and each newcomer. Kept to be measured. Default false. */
  herd?: boolean
}

export interface ReadWriteAcquireOptions extends AcquireOptions {
  /**
   * Who asks: any value, compared by identity. An owner who would wait for himself, in this ReadWriteLock, is refused at once: with UPGRADE
   * who holds the read lock and asks for the write lock, with UNSUPPORTED who holds the write lock and asks for either. Default: nobody
   * in particular, who may wait for himself for ever.
   */
  owner?: unknown
}

/**
 * A lock of two sides: any number may hold the read lock at once, and whoever holds the write lock holds it alone. It is fair: all stand
 * in one queue and get their turn in its order, so that a reader waits behind a writer who waits, and neither side starves the other. Readers
 * watch the nearest writer before them, writers the nearest node before them: a release wakes those whose turn it may be.
 *
 * From the write lock one can come down to the read lock with nobody in between; there is no way up.
 */
export class ReadWriteLock {
  readonly path: string
  readonly readLock: ReadLock
  readonly writeLock: WriteLock

  /** @throws LockError UNSUPPORTED where the dialect does not tell readers from writers */
  constructor(client: Client, path: string, options: ReadWriteLockOptions = {}) {
    const { dialect = 'curator', herd = false, onForeignContenders, ...rest } = checked('lock', path, options)
    const names = readWriteNamesOf(dialect, path)
    const readers = queueOf(client, path, names.read, { ...rest, blocks: ({ name }) => names.isWriter(name) })
    const writers = queueOf(client, path, names.write, rest)
    const waiting = herd ? watchDirectory : watchPredecessor
    const holders = new Owners(path)
    this.path = path
    this.readLock = new ReadLock(client, readers, waiting, onForeignContenders, holders)
    this.writeLock = new WriteLock(client, writers, waiting, onForeignContenders, holders, readers)
  }
}

/** Who holds either side, of those who said who they are. */
class Owners {
  readonly #lock: string
  #all: { owner: unknown; held: ReadHeld | WriteHeld }[] = []

  constructor(lock: string) {
    this.#lock = lock
  }

  add(owner: unknown, held: ReadHeld | WriteHeld): void {
    if (owner !== undefined) this.#all = [...this.#current(), { owner, held }]
  }

  /** Why the owner is not to ask, if he would wait for himself. */
  refusal(owner: unknown, wanted: 'read' | 'write'): LockError | undefined {
    const own = this.#current().filter(each => owner !== undefined && each.owner === owner)
    if (own.some(({ held }) => held instanceof WriteHeld)) {
      const cause = new Error('the owner holds the write lock already')
      return new LockError('UNSUPPORTED', this.#lock, { cause })
    }
    return wanted === 'write' && own.length > 0 ? new LockError('UPGRADE', this.#lock) : undefined
  }

  /** Without those that were released or lost. */
  #current() {
    return this.#all.filter(({ held }) => held.validFor() > 0)
  }
}

/** One side of the lock. `contenders()` are those of both. */
abstract class ReadWriteSide<H extends ReadHeld | WriteHeld> extends QueueLock<H> {
  protected abstract readonly wanted: 'read' | 'write'
  protected readonly holders: Owners

  constructor(
    client: Client,
    queue: LockQueue,
    waiting: WaitStrategy,
    onStrangers: OnForeignContenders | undefined,
    holders: Owners,
  ) {
    super(client, queue, waiting, onStrangers)
    this.holders = holders
  }

  override async acquire(options: ReadWriteAcquireOptions = {}): Promise<H> {
    this.#refuse(checked('lock', this.path, options))
    return super.acquire(options)
  }

  override async tryAcquire(options: ReadWriteAcquireOptions = {}): Promise<H | null> {
    this.#refuse(checked('lock', this.path, options))
    return super.tryAcquire(options)
  }

  override use<T>(fn: (held: H) => T | Promise<T>, options: ReadWriteAcquireOptions = {}): Promise<T> {
    return super.use(fn, options)
  }

  #refuse({ owner }: ReadWriteAcquireOptions): void {
    const refusal = this.holders.refusal(owner, this.wanted)
    if (refusal !== undefined) throw refusal
  }
}

export class ReadLock extends ReadWriteSide<ReadHeld> {
  protected override readonly wanted = 'read'

  protected override hold(ownNode: OwnNode, options: ReadWriteAcquireOptions): ReadHeld {
    const held = new ReadHeld(this.queue.client, this.path, ownNode, options)
    this.holders.add(options.owner, held)
    return held
  }
}

export class WriteLock extends ReadWriteSide<WriteHeld> {
  protected override readonly wanted = 'write'
  readonly #readers: LockQueue

  constructor(
    client: Client,
    queue: LockQueue,
    waiting: WaitStrategy,
    onStrangers: OnForeignContenders | undefined,
    holders: Owners,
    readers: LockQueue,
  ) {
    super(client, queue, waiting, onStrangers, holders)
    this.#readers = readers
  }

  protected override hold(ownNode: OwnNode, options: ReadWriteAcquireOptions): WriteHeld {
    const note = (held: ReadHeld | WriteHeld) => this.holders.add(options.owner, held)
    const held = new WriteHeld(this.path, ownNode, this.#readers, options, note)
    note(held)
    return held
  }
}
