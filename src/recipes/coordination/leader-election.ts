// Leader election, with the nodes of Curator's LeaderLatch.
import { checked, newPace, signalChecks, unlessRefused } from '../../client/recipe-support.ts'
import { join } from '../../protocol/index.ts'
import { optionsProblem } from '../../options/checks.ts'
import type { Client, SignalOption } from '../../client/index.ts'
import { checkArguments, checkFunction } from '../call/arguments.ts'
import { waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { closedError } from '../call/closed-error.ts'
import { Followed } from '../changes/followed.ts'
import { WatchedState } from '../changes/watched-state.ts'
import type { Iteration } from '../changes/publisher.ts'
import { HeldUntil } from '../locks/held-until.ts'
import { watchingOwnNode, type Held } from '../locks/held.ts'
import { acquireOptionChecks, type AcquireOptions } from '../locks/lock.ts'
import { lockOptionChecks, QueueLock, type LockOptions } from '../locks/queue-lock.ts'
import { runWhileHeld } from '../locks/use-held.ts'
import { readWatched, type Seen } from '../node/read-with-watch.ts'
import { namingOf, sequenceAfter, type Naming } from '../queue/dialect.ts'
import { LockQueue } from '../queue/lock-queue.ts'
import { LookAheadWaiter } from '../queue/look-ahead.ts'

/**
 * One participant, as of the moment when it was read.
 * @example
 * const election = new LeaderElection(zk, '/election', { id: 'host-1' })
 * await using held = await election.campaign()
 * const participants: Participant[] = await election.participants()
 * participants.map(({ id, isLeader }) => [id, isLeader]) // => [['host-1', true]]
 */
export interface Participant {
  /** Its option `id`. */
  id: string
  /** True if it leads: it is the first in the queue. */
  isLeader: boolean
  /** The path of its node, which `revoke()` takes. */
  path: string
  /** The id of its session. */
  session: bigint
}

const latch: Naming = { prefix: uuid => `_c_${uuid}-latch-`, sequenceOf: sequenceAfter('latch-') }

/** The lock for which the participants queue. Its holder is the leader. */
class Leadership extends QueueLock {
  declare readonly queue: LockQueue
  protected override readonly acquireOp = 'campaign'

  constructor(client: Client, path: string, options: LockOptions) {
    const queue = new LockQueue(client, path, namingOf(latch), options)
    super(client, queue, () => new LookAheadWaiter(queue))
  }
}

/**
 * An election among all participants that campaign in one directory. The first of them leads until it releases its
 * {@link Held} or loses the leadership. `signal` of the Held aborts on loss, and its `token` grows from leader to
 * leader.
 * @example
 * const election = new LeaderElection(zk, '/election', { id: 'host-1' })
 * await using held = await election.campaign()
 * const leader = await new LeaderElection(other, '/election').leader()
 * leader?.id // => 'host-1'
 */
export class LeaderElection extends Followed<Participant | null> {
  /** The client whose session takes part. */
  readonly client: Client
  /** The directory in which each participant has a node. */
  readonly path: string
  readonly #leadership: Leadership
  readonly #changes: WatchedState<{ readonly leader: Participant | null }, Participant | null>

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: LockOptions = {}) {
    checkArguments('LeaderElection', client, path, optionsProblem(options, lockOptionChecks))
    const leadership = new Leadership(client, path, options)
    const changes = new WatchedState<{ readonly leader: Participant | null }, Participant | null>(
      leadership.queue.client,
      path,
      signal => this.#watchLeader(signal),
      (before, { leader }) => (before !== undefined && before.leader?.path === leader?.path ? undefined : leader),
    )
    super(changes)
    this.client = client
    this.path = path
    this.#leadership = leadership
    this.#changes = changes
  }

  /**
   * Queues for the leadership, and resolves when this participant leads. It leads until it releases the result or loses
   * the leadership. `watchOwnNode` is true by default.
   * @throws RecipeError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError, for example BADARGUMENTS,
   * SESSIONEXPIRED, NOAUTH
   * @example
   * await using held = await new LeaderElection(zk, '/election', { id: 'host-1' }).campaign({ timeout: 10_000 })
   * held.validFor() > 0 // => true
   */
  async campaign(options: AcquireOptions = {}): Promise<Held> {
    checked('campaign', this.path, options, acquireOptionChecks)
    this.#refuseIfClosed('campaign')
    return this.#leadership.acquire(watchingOwnNode(options))
  }

  /**
   * Runs a function each time this participant becomes the leader. Campaigns again when the function has ended, even if
   * the leadership was lost, after a pause of at most a second if it ends again and again at once. `held.signal` aborts
   * on loss, and when `options.signal` aborts. The function should then end; errors that it throws after that are
   * ignored. Resolves when `options.signal` has aborted and no function is running.
   * @throws the function's error, if it fails while this participant leads; RecipeError EXHAUSTED; ZooKeeperError
   * BADARGUMENTS, NOAUTH; ZooKeeperError at the end of the session (`supervise` can start a new session);
   * AggregateError if the function fails and the release is refused too
   * @example
   * const stop = new AbortController()
   * const task = (held: Held) => {
   *   held.validFor() > 0 // => true
   *   stop.abort()
   * }
   * await new LeaderElection(zk, '/election', { id: 'host-1' }).lead(task, { signal: stop.signal })
   */
  async lead(fn: (held: Held) => void | Promise<void>, options: SignalOption = {}): Promise<void> {
    checkFunction('lead', this.path, fn)
    const { signal } = checked('lead', this.path, options, signalChecks)
    this.#refuseIfClosed('lead')
    // A function that ends at once would otherwise write thousands of times a second.
    const pace = newPace(this.#leadership.queue.client)
    while (!signal?.aborted) {
      let term: HeldUntil
      try {
        term = new HeldUntil(await this.campaign({ signal }), signal)
      } catch (error) {
        if (signal?.aborted) return
        throw error
      }
      await runWhileHeld(this.#leadership.queue.client, term, async () => {
        try {
          await fn(term)
        } catch (error) {
          if (!term.signal.aborted) throw error
        }
      })
      await pace.wait(signal)
    }
  }

  /**
   * Reads all participants, the leader first. Waits through lost connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * const election = new LeaderElection(zk, '/election', { id: 'host-1' })
   * await using held = await election.campaign()
   * const participants = await election.participants()
   * participants.map(({ id }) => id) // => ['host-1']
   */
  participants(options: WaitOptions = {}): Promise<Participant[]> {
    return this.#read('participants', options)
  }

  /**
   * Reads the leader. Resolves with null if there is no leader. Throws as {@link participants}.
   * @example
   * const election = new LeaderElection(zk, '/election', { id: 'host-1' })
   * await election.leader() // => null
   * await using held = await election.campaign()
   * await election.leader().then(leader => leader?.path) // => held.path
   */
  async leader(options: WaitOptions = {}): Promise<Participant | null> {
    return (await this.#read('leader', options))[0] ?? null
  }

  async #read(op: string, options: WaitOptions): Promise<Participant[]> {
    this.#refuseIfClosed(op)
    const { queue } = this.#leadership
    const call = { op, path: this.path, options }
    const read = async (signal: AbortSignal): Promise<Participant[]> => {
      const contenders = await queue.contenders({ signal })
      return contenders.map(({ path, id, session }, i) => ({ id, isLeader: i === 0, path, session }))
    }
    const stateOf = ([leader]: Participant[]) => ({ leader: leader ?? null })
    return waitingRead(queue.client, call, signal => this.#changes.readByCall(() => read(signal), stateOf))
  }

  /**
   * Yields the present leader, or null if there is none, and then each new one, without taking part. A slow reader gets
   * the latest. Needs one watch, on the leader's node, which all listeners and loops of this object share.
   * @throws ZooKeeperError BADARGUMENTS; when iterating: the signal's reason; ZooKeeperError NOAUTH, or the error of the
   * session at its end
   * @example
   * for await (const leader of new LeaderElection(zk, '/election').changes()) {
   *   leader // => null
   *   break
   * }
   */
  override changes(options: SignalOption = {}): Iteration<Participant | null> {
    return this.#changes.iterate(options)
  }

  /**
   * Removes the listeners, and ends the loops over {@link changes}. Later calls reject with CLOSED. A leadership stays
   * held until it is released, and `lead` runs until its signal aborts. May be called again. Never rejects.
   * @example
   * const election = new LeaderElection(zk, '/election')
   * await election.close()
   * await election.leader() // throws CLOSED
   */
  override close(): Promise<void> {
    this.#changes.close()
    return Promise.resolve()
  }

  #refuseIfClosed(op: string): void {
    if (this.#changes.isClosed) throw closedError(op, this.path)
  }

  /**
   * Reads and watches the leader, or the directory if there is no leader. Returns undefined if the leader changed
   * during the call.
   */
  async #watchLeader(signal: AbortSignal): Promise<Seen<{ leader: Participant | null }> | undefined> {
    const { queue } = this.#leadership
    const { client, directory, names } = queue
    const first = firstOf((await queue.list({ signal })).children, names)
    if (first !== undefined) {
      const path = join(directory, first)
      const node = await unlessRefused(
        readWatched(signal, options => client.getData(path, options)),
        'NONODE',
      )
      if (node === undefined) return undefined
      const { data, stat } = node.value
      const leader = { id: data?.toString() ?? '', isLeader: true, path, session: stat.ephemeralOwner }
      return { value: { leader }, changed: node.changed }
    }
    const list = await unlessRefused(
      readWatched(signal, options => client.getChildren(directory, options)),
      'NONODE',
    )
    const { value, changed } = list ?? (await readWatched(signal, options => client.exists(directory, options)))
    const isEmpty = value === null || ('children' in value && firstOf(value.children, names) === undefined)
    // If a participant has joined since the first list, only the leader's node must be watched.
    return { value: { leader: null }, changed: isEmpty ? changed : undefined }
  }
}

/** Returns the name of the leader's node: the one with the lowest number. */
function firstOf(children: readonly string[], names: Naming): string | undefined {
  const contenders = children.flatMap(name => {
    const sequence = names.sequenceOf(name)
    return sequence === undefined ? [] : [{ name, sequence }]
  })
  return contenders.sort((a, b) => a.sequence - b.sequence)[0]?.name
}
