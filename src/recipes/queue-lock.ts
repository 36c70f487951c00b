// A lock whose contenders queue as nodes of a directory; such locks differ in how one waits, and for whom.
import type { ACL } from '../protocol/index.ts'
import { checked } from '../session/arguments.ts'
import type { Client, Data } from '../session/index.ts'
import { contend, reachHead, tryHead, type AcquireOptions, type Waiting } from './contend.ts'
import { namesOf, type Dialect, type DialectName, type Naming } from './dialect.ts'
import { NodeHeld, type Held } from './held.ts'
import { Lock } from './lock.ts'
import { reportStrangers, type OnStrangers } from './strangers.ts'
import { Place } from './place.ts'
import { contendersIn, endOf, queueOf, type ContenderInfo, type Queue } from './queue.ts'

export interface LockOptions {
  /** What one's node holds, for people who look: who it is. Default empty. */
  data?: Data
  /**
   * Of one's node, and of the directory in which it stands where that is made; what is missing above it is open to the world. Default: the
   * world may do anything.
   */
  acl?: readonly ACL[]
  /**
   * Told once when others stand in the directory by another library's names: they and we do not wait for each other. Default: a warning of the
   * process, ZKWIRE_STRANGERS.
   */
  onStrangers?: OnStrangers
}

export interface MutexOptions extends LockOptions {
  /** Whose names to use, so as to share the lock with them. All users of one lock must use the same. Default 'curator'. */
  dialect?: DialectName | Dialect
}

export abstract class QueueLock<H extends Held = Held> extends Lock<H> {
  protected readonly queue: Queue
  readonly #waiting: Waiting

  protected constructor(client: Client, queue: Queue, waiting: Waiting, onStrangers: OnStrangers | undefined) {
    super(client, queue.directory)
    this.queue = queue
    this.#waiting = reportStrangers(waiting, onStrangers)
  }

  override acquire(options: AcquireOptions = {}): Promise<H> {
    const place = new Place(endOf(this.queue))
    return contend(this.queue.client, this.path, place, options, async signal => {
      await reachHead(this.queue, this.#waiting, place, signal)
      return this.hold(place, options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<H | null> {
    const place = new Place(endOf(this.queue))
    return contend(this.queue.client, this.path, place, options, async signal =>
      (await tryHead(this.queue, this.#waiting, place, signal)) ? this.hold(place, options) : null,
    )
  }

  /** Who holds the lock and who waits for it, in their order. */
  contenders(): Promise<ContenderInfo[]> {
    return contendersIn(this.queue)
  }

  protected abstract hold(place: Place, options: AcquireOptions): H
}

export class ExclusiveLock extends QueueLock {
  protected constructor(
    client: Client,
    path: string,
    given: LockOptions & { dialect?: MutexOptions['dialect'] | Naming },
    waiting: Waiting,
  ) {
    // Whoever gives the name of a dialect in their place would share the lock with others than he believes.
    const { dialect = 'curator', onStrangers, ...options } = checked('lock', path, given)
    super(client, queueOf(client, path, namesOf(dialect, path), options), waiting, onStrangers)
  }

  protected override hold(place: Place, options: AcquireOptions): Held {
    return new NodeHeld(this.queue.client, this.path, place, options)
  }
}
