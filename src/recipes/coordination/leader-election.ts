// Who leads: Curator's LeaderLatch, as a lock that names its contenders.
import { checked, readProblem } from '../../client/recipe-support.ts'
import { isCode, join } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import type { AcquireOptions } from '../locks/lock.ts'
import { sequenceAfter, type Names, type Naming } from '../queue/dialect.ts'
import { runWhileHeld, watchingOwnNode, type Held } from '../locks/held.ts'
import { watchPredecessor } from '../queue/wait-strategies.ts'
import { childNames } from '../queue/queue.ts'
import { ExclusiveLock, type LockOptions } from '../locks/queue-lock.ts'
import { readWatched } from '../node/read-with-watch.ts'

export interface LeaderElectionOptions extends Omit<LockOptions, 'data'> {
  /** What this participant is known by to the others. Default empty. */
  id?: string
}

export interface Participant {
  id: string
  isLeader: boolean
  /** Its node. */
  path: string
  session: bigint
}

const latch: Naming = { prefix: uuid => `_c_${uuid}-latch-`, sequenceOf: sequenceAfter('latch-') }

/**
 * An election among all who campaign in one directory; the first to come leads until it resigns or is lost. Leadership is a {@link Held}:
 * its `signal` tells of its loss, its `token` grows from leader to leader.
 */
export class LeaderElection extends ExclusiveLock {
  constructor(client: Client, path: string, given: LeaderElectionOptions = {}) {
    const { id = '', ...options } = checked('lock', path, given)
    super(client, path, { ...options, data: id, dialect: latch }, watchPredecessor)
  }

  /** Resolves when this participant leads, until the release of what it comes to. Throws as {@link Lock.acquire}. */
  campaign(options: AcquireOptions = {}): Promise<Held> {
    return this.acquire(watchingOwnNode(options))
  }

  /**
   * Runs a function each time this participant comes to lead, and campaigns again when it has ended or the leadership was lost. The function is
   * to end when `held.signal` aborts; what it throws after that is taken for its way to end. Resolves when the signal aborts.
   * @throws what the function throws while it leads; ZooKeeperError at the end of the session (`supervise` lives through that)
   */
  async lead(fn: (held: Held) => void | Promise<void>, options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = checked('lead', this.path, options, readProblem)
    while (!signal?.aborted) {
      let held: Held
      try {
        held = await this.campaign(signal ? { signal } : {})
      } catch (error) {
        if (signal?.aborted) return
        throw error
      }
      await runWhileHeld(held, async () => {
        try {
          await fn(held)
        } catch (error) {
          if (!held.signal.aborted && !signal?.aborted) throw error
        }
      })
    }
  }

  /** Who takes part, the leader first. */
  async participants(): Promise<Participant[]> {
    const contenders = await this.contenders()
    return contenders.map(({ path, data, session }, i) => ({
      id: data?.toString() ?? '',
      isLeader: i === 0,
      path,
      session,
    }))
  }

  /** Who leads, or null. */
  async leader(): Promise<Participant | null> {
    return (await this.participants())[0] ?? null
  }

  /**
   * Tells who leads, now and after each change; null while nobody does. It takes no part and writes nothing, and needs one watch: leaders who come
   * and go in between are passed over. Ends when the signal aborts.
   * @throws ZooKeeperError at the end of the session
   */
  async *leaders(options: { signal?: AbortSignal } = {}): AsyncGenerator<Participant | null, void, undefined> {
    const { signal } = checked('observe', this.path, options, readProblem)
    const watching = new AbortController()
    const stop = signal ? AbortSignal.any([signal, watching.signal]) : watching.signal
    let told: string | null | undefined
    try {
      for (;;) {
        const { leader, changed } = await this.queue.client.retry(() => this.#watchLeader(stop), { signal: stop })
        if (told !== (leader?.path ?? null)) yield leader
        told = leader?.path ?? null
        await changed
      }
    } catch (error) {
      if (!signal?.aborted) throw error
    } finally {
      watching.abort()
    }
  }

  async #watchLeader(signal: AbortSignal): Promise<{ leader: Participant | null; changed: Promise<void> }> {
    const { client, directory, names } = this.queue
    for (;;) {
      const look = new AbortController()
      const watching = AbortSignal.any([signal, look.signal])
      const first = firstOf(await childNames(this.queue, { signal }), names)
      if (first !== undefined) {
        const path = join(directory, first)
        const node = await unlessGone(readWatched(watching, options => client.getData(path, options)))
        if (node === undefined) continue
        const { data, stat } = node.value
        const leader = { id: data?.toString() ?? '', isLeader: true, path, session: stat.ephemeralOwner }
        return { leader, changed: node.changed }
      }
      const list = await unlessGone(readWatched(watching, options => client.getChildren(directory, options)))
      const { value, changed } = list ?? (await readWatched(watching, options => client.exists(directory, options)))
      const isEmpty = value === null || ('children' in value && firstOf(value.children, names) === undefined)
      if (isEmpty) return { leader: null, changed }
      // Somebody has come meanwhile: his node is to be watched, and nothing else.
      look.abort()
    }
  }
}

/** A read, or undefined where the node is not there. */
async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isCode(error, 'NONODE')) return undefined
    throw error
  }
}

/** Who leads: the contender with the lowest number. */
function firstOf(children: readonly string[], names: Names): string | undefined {
  const inLine = children.flatMap(name => {
    const sequence = names.sequenceOf(name)
    return sequence === undefined ? [] : [{ name, sequence }]
  })
  return inLine.sort((a, b) => a.sequence - b.sequence)[0]?.name
}
