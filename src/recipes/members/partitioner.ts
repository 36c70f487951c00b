// Members share a set of items. Each item has at most one owner, which the lock of the item ensures.
import { anACL, checked, copyOfACL, newUuid, signalChecks } from '../../client/recipe-support.ts'
import { join, type ACL } from '../../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import type { Client, SignalOption } from '../../client/index.ts'
import { checkArguments, checkFunction } from '../call/arguments.ts'
import { waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import { EphemeralMutex } from '../locks/ephemeral-mutex.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { Membership } from './membership.ts'
import { PartitionRun, type ItemTask } from './partition-run.ts'

/**
 * Options of a {@link Partitioner}.
 * @example
 * const options: PartitionerOptions = { id: 'host-1' }
 * new Partitioner(zk, '/shards', ['a', 'b'], options).id // => 'host-1'
 */
export interface PartitionerOptions {
  /** The id of this member: a name without '/', which must differ from those of all others. If
   * another member has the same id, the one that was there first emits the process warning ZKWIRE_SAME_ID, and the other
   * may stay without items. Default: a random UUID. */
  id?: string | undefined
  /** ACL of all created nodes. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
}

const checks: Checks<PartitionerOptions> = {
  id: mustBe('a string', value => typeof value === 'string'),
  acl: anACL,
}

/**
 * Shares a set of items among all members that run. Every member must be given the same items. An item has at most one
 * owner at a time: it passes on only when its owner has released it, or when that owner's session has ended. When one
 * of M members joins or leaves, about 1/M of the items move.
 *
 * `path/members` has a node for each member, and `path/owners` a node for each item that has an owner.
 * @example
 * const stop = new AbortController()
 * const owned: string[] = []
 * const partitioner = new Partitioner(zk, '/shards', ['a', 'b', 'c'], { id: 'host-1' })
 * await partitioner.run(
 *   item => {
 *     if (owned.push(item) === 3) stop.abort()
 *   },
 *   { signal: stop.signal },
 * )
 * owned.sort() // => ['a', 'b', 'c']
 */
export class Partitioner {
  /** The client whose session takes part. */
  readonly client: Client
  /** The path of the group. Each member has a node in its directory `members`. */
  readonly path: string
  /** The name of this member. It is unique in the group. */
  readonly id: string
  readonly #items: readonly string[]
  readonly #acl: readonly ACL[] | undefined

  /** @throws ZooKeeperError BADARGUMENTS, also for an item that is not a string or is empty */
  constructor(client: Client, path: string, items: Iterable<string>, options: PartitionerOptions = {}) {
    const list: unknown[] = isIterable(items) ? [...items] : [undefined]
    checkArguments('Partitioner', client, path, optionsProblem(options, checks), itemsProblem(list))
    this.client = client
    this.path = path
    this.id = options.id ?? newUuid(client)
    this.#items = [...new Set(list as string[])]
    this.#acl = copyOfACL(options.acl)
    // Checks the id.
    this.#newMembership()
  }

  /**
   * Joins, and runs the task for each item that this member owns, for many items at once. If the task returns while its
   * item is still owned, the item stays owned and the task is not run again. Resolves when `options.signal` has
   * aborted, all tasks have ended, and this member has left.
   * @throws the error of a task, if it fails while its item is owned; ZooKeeperError BADARGUMENTS, NOAUTH;
   * ZooKeeperError at the end of the session (`supervise` can start a new session)
   * @example
   * const stop = new AbortController()
   * const partitioner = new Partitioner(zk, '/shards', ['a'])
   * await partitioner.run(
   *   item => {
   *     item // => 'a'
   *     stop.abort()
   *   },
   *   { signal: stop.signal },
   * )
   */
  async run(task: ItemTask, options: SignalOption = {}): Promise<void> {
    checkFunction('run', this.path, task)
    const { signal } = checked('run', this.path, options, signalChecks)

    const { client } = this
    const owners = join(this.path, 'owners')
    const membership = this.#newMembership()
    const begin = async (stop: AbortSignal) => {
      // One request here, instead of one for each item.
      const options = { mode: 'container', acl: this.#acl, signal: stop } as const
      const ensure = async () => {
        if (this.#acl !== undefined) await ensureDirectory(client, this.path, options)
        await ensureDirectory(client, owners, options)
      }
      await retryUntilDone(client, ensure, { signal: stop })
      await membership.start(client, { signal: stop })
    }
    const locks = this.#items.map(item => [item, this.#lockOf(item)] as const)
    await new PartitionRun(client, task, locks).run({ membership, id: this.id, begin, signal })
  }

  /**
   * Reads the id of each item's present owner; null if it has none. Takes one request for each item. Waits through lost
   * connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * const owners = await new Partitioner(zk, '/shards', ['a', 'b']).owners()
   * owners // => new Map([['a', null], ['b', null]])
   */
  owners(options: WaitOptions = {}): Promise<Map<string, string | null>> {
    return waitingRead(this.client, { op: 'owners', path: this.path, options }, async signal => {
      const entries = this.#items.map(async item => {
        const [owner] = await this.#lockOf(item).contenders({ signal })
        return [item, owner?.id ?? null] as const
      })
      return new Map(await Promise.all(entries))
    })
  }

  #newMembership(): Membership {
    const acl = this.#acl
    return new Membership(join(this.path, 'members'), { id: this.id, acl })
  }

  #lockOf(item: string): EphemeralMutex {
    const acl = this.#acl
    const path = join(join(this.path, 'owners'), nodeNameOf(item))
    return new EphemeralMutex(this.client, path, { id: this.id, acl })
  }
}

/** Returns false for a string too, whose characters would be the items. */
const isIterable = (items: unknown): items is Iterable<unknown> =>
  typeof items === 'object' && items !== null && Symbol.iterator in items

function itemsProblem(items: readonly unknown[]): string | undefined {
  const isItem = (item: unknown) => typeof item === 'string' && item !== '' && isWellFormed(item)
  return items.every(isItem) ? undefined : 'the items must be a list of strings that are not empty'
}

/** Returns false for a string with half of a surrogate pair, which has no UTF-8. */
const isWellFormed = (text: string): boolean => Buffer.from(text).toString() === text

/** Returns the name of an item's node: the item, in which characters that a name cannot have are percent-encoded. */
const nodeNameOf = (item: string): string =>
  /^\.\.?$/.test(item) ? item.replaceAll('.', '%2E') : encodeURIComponent(item)
