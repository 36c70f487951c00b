// Leader election, with the nodes of Curator's LeaderLatch.
import { checked, newPace } from '../../client/recipe-support.ts'
import { isCode, join } from '../../protocol/index.ts'
import { optionsProblem, type Checks } from '../../protocol/option-checks.ts'
import { forwardAbort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments, checkFunction } from '../node/arguments.ts'
import { waitOptionChecks } from '../node/cancellable.ts'
import { readWatched } from '../node/read-with-watch.ts'
import { namesOf, sequenceAfter, type Names, type Naming } from '../queue/dialect.ts'
import { LookAheadWaiter } from '../queue/look-ahead.ts'
import { LockQueue } from '../queue/queue.ts'
import { watchingOwnNode, type Held } from '../locks/held.ts'
import { runWhileHeld } from '../locks/use-held.ts'
import { HeldUntil } from '../locks/held-until.ts'
import { acquireOptionChecks, type AcquireOptions } from '../locks/lock.ts'
import { lockOptionChecks, QueueLock, type LockOptions } from '../locks/queue-lock.ts'

interface SignalOption {
  /** Ends the call when it aborts. Default: no signal. */
  signal?: AbortSignal | undefined
}

const signalChecks: Checks<SignalOption> = { signal: waitOptionChecks.signal }

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

  constructor(client: Client, path: string, options: LockOptions) {
    const queue = new LockQueue(client, path, namesOf(latch), options)
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
export class LeaderElection {
  /** The client whose session takes part. */
  readonly client: Client
  /** The directory in which each participant has a node. */
  readonly path: string
  readonly #leadership: Leadership

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: LockOptions = {}) {
    checkArguments('LeaderElection', client, path, optionsProblem(options, lockOptionChecks))
    this.client = client
    this.path = path
    this.#leadership = new Leadership(client, path, options)
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
      await runWhileHeld(term, async () => {
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
   * Reads all participants, the leader first. Does not wait through lost connections.
   * @throws ZooKeeperError, for example CONNECTIONLOSS, NOAUTH, SESSIONEXPIRED
   * @example
   * const election = new LeaderElection(zk, '/election', { id: 'host-1' })
   * await using held = await election.campaign()
   * const participants = await election.participants()
   * participants.map(({ id }) => id) // => ['host-1']
   */
  async participants(): Promise<Participant[]> {
    const contenders = await this.#leadership.contenders()
    return contenders.map(({ path, id, session }, i) => ({ id, isLeader: i === 0, path, session }))
  }

  /**
   * Reads the leader. Resolves with null if there is no leader. Throws as {@link participants}.
   * @example
   * const election = new LeaderElection(zk, '/election', { id: 'host-1' })
   * await election.leader() // => null
   * await using held = await election.campaign()
   * await election.leader().then(leader => leader?.path) // => held.path
   */
  async leader(): Promise<Participant | null> {
    return (await this.participants())[0] ?? null
  }

  /**
   * Yields the current leader, and then each new one; null while there is no leader. Does not participate, writes
   * nothing, and needs one watch. Skips leaders that come and go between two reads. Ends when the signal aborts.
   * @throws ZooKeeperError BADARGUMENTS, NOAUTH; ZooKeeperError at the end of the session
   * @example
   * const election = new LeaderElection(zk, '/election', { id: 'host-1' })
   * await using held = await election.campaign()
   * for await (const leader of election.leaders()) {
   *   leader?.id // => 'host-1'
   *   break
   * }
   */
  async *leaders(options: SignalOption = {}): AsyncGenerator<Participant | null, void, undefined> {
    const { signal } = checked('leaders', this.path, options, signalChecks)
    const { client } = this.#leadership.queue
    const pace = newPace(client)
    let lastPath: string | null | undefined
    for (;;) {
      // Not AbortSignal.any(): in Node 20 the caller's signal would keep an entry for each round.
      const round = new AbortController()
      const stopListening = forwardAbort(signal, round)
      try {
        const watched = await client.retry(() => this.#watchLeader(round.signal), { signal: round.signal })
        if (watched === undefined) {
          await pace.wait(signal)
          continue
        }
        const { leader, changed } = watched
        if (lastPath !== (leader?.path ?? null)) yield leader
        lastPath = leader?.path ?? null
        await changed
      } catch (error) {
        if (signal?.aborted) return
        throw error
      } finally {
        stopListening()
        round.abort()
      }
    }
  }

  /**
   * Reads and watches the leader, or the directory if there is no leader. Returns undefined if the leader changed
   * during the call: the caller must then abort the signal, which removes the watch, and call again.
   */
  async #watchLeader(signal: AbortSignal): Promise<{ leader: Participant | null; changed: Promise<void> } | undefined> {
    const { queue } = this.#leadership
    const { client, directory, names } = queue
    const first = firstOf((await queue.list({ signal })).children, names)
    if (first !== undefined) {
      const path = join(directory, first)
      const node = await unlessMissing(readWatched(signal, options => client.getData(path, options)))
      if (node === undefined) return undefined
      const { data, stat } = node.value
      const leader = { id: data?.toString() ?? '', isLeader: true, path, session: stat.ephemeralOwner }
      return { leader, changed: node.changed }
    }
    const list = await unlessMissing(readWatched(signal, options => client.getChildren(directory, options)))
    const { value, changed } = list ?? (await readWatched(signal, options => client.exists(directory, options)))
    const isEmpty = value === null || ('children' in value && firstOf(value.children, names) === undefined)
    // If a participant has joined since the first list, only the leader's node must be watched.
    return isEmpty ? { leader: null, changed } : undefined
  }
}

/** Returns the result of a read, or undefined if the node does not exist. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isCode(error, 'NONODE')) return undefined
    throw error
  }
}

/** Returns the name of the leader's node: the one with the lowest number. */
function firstOf(children: readonly string[], names: Names): string | undefined {
  const contenders = children.flatMap(name => {
    const sequence = names.sequenceOf(name)
    return sequence === undefined ? [] : [{ name, sequence }]
  })
  return contenders.sort((a, b) => a.sequence - b.sequence)[0]?.name
}
