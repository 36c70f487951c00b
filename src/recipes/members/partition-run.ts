// One run of a Partitioner: takes the items that this member should own, and passes on the others.
import { isTerminal, newPace } from '../../client/recipe-support.ts'
import { hex64, isCode, printable } from '../../protocol/index.ts'
import { forwardAbort, onAbort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { TEMPORARY } from '../call/retry-until-done.ts'
import type { EphemeralMutex } from '../locks/ephemeral-mutex.ts'
import { HeldUntil } from '../locks/held-until.ts'
import type { Held } from '../locks/held.ts'
import { runWhileHeld } from '../locks/use-held.ts'
import type { GroupMember } from './membership-options.ts'
import type { Membership } from './membership.ts'
import { ownersOf } from './rendezvous.ts'

/**
 * Works on one item while this member owns it.
 * @param held the lock of the item. Its signal aborts when another member should own the item, and when the lock is
 * lost. The function should then end, because the item passes on only after that. `token` grows from owner to owner
 * @example
 * const stop = new AbortController()
 * const task: ItemTask = item => {
 *   item // => 'a'
 *   stop.abort()
 * }
 * await new Partitioner(zk, '/shards', ['a']).run(task, { signal: stop.signal })
 */
export type ItemTask = (item: string, held: Held) => void | Promise<void>

interface RunOptions {
  membership: Membership
  /** The id of this member. */
  id: string
  /** Joins the membership. */
  begin: (stop: AbortSignal) => Promise<void>
  signal: AbortSignal | undefined
}

export class PartitionRun {
  readonly #client: Client
  readonly #shares: ReadonlyMap<string, Share>
  readonly #stop = new AbortController()
  #failure: { error: unknown } | undefined
  #hasWarned = false

  constructor(client: Client, task: ItemTask, locks: readonly (readonly [item: string, lock: EphemeralMutex])[]) {
    this.#client = client
    const newShare = (item: string, lock: EphemeralMutex) =>
      new Share(
        client,
        lock,
        held => task(item, held),
        error => this.#fail(error),
      )
    this.#shares = new Map(locks.map(([item, lock]) => [item, newShare(item, lock)]))
  }

  /** Runs until the signal aborts, a task fails or the session ends. Then releases all items and leaves. */
  async run({ membership, id, begin, signal }: RunOptions): Promise<void> {
    const stop = this.#stop
    const stopForwarding = forwardAbort(signal, stop)
    const onState = () => {
      if (isTerminal(this.#client.state)) void this.#client.whenConnected().catch((error: unknown) => this.#fail(error))
    }
    this.#client.on('state', onState)
    try {
      if (!stop.signal.aborted) await begin(stop.signal)
      for await (const { members } of membership.changes({ signal: stop.signal })) {
        this.#warnOfAnother(members.find(member => member.id === id))
        this.#assign(id, new Set(members.map(member => member.id)))
      }
    } catch (error) {
      this.#fail(error)
    }
    // The membership ends first, so that the new owners wait for the items when the tasks end.
    await Promise.all([membership.close().catch((error: unknown) => this.#fail(error)), this.#endAll()])
    this.#client.off('state', onState)
    stopForwarding()
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** @param own the member with this member's id */
  #warnOfAnother(own: GroupMember | undefined): void {
    if (own === undefined || own.session === this.#client.sessionId || this.#hasWarned) return
    this.#hasWarned = true
    process.emitWarning(
      printable(
        `Another Partitioner, in session ${hex64(own.session)}, runs with the id '${own.id}' of this one. Both count as one member, so one of them ` +
          `waits for the items of the other (${own.path}). Give each its own id.`,
      ),
      { code: 'ZKWIRE_SAME_ID' },
    )
  }

  /** Counts this member also while its node is missing, because the node comes back at once. */
  #assign(id: string, members: Set<string>): void {
    const owners = ownersOf([...this.#shares.keys()], [...members.add(id)])
    for (const [item, share] of this.#shares) {
      if (owners.get(item) === id) share.take()
      else share.passOn(new Error(`${item} passes to another member: end the work on it`))
    }
  }

  /** Ends the run, unless the error is its end already. */
  #fail(error: unknown): void {
    if (this.#stop.signal.aborted && error === this.#stop.signal.reason) return
    this.#failure ??= { error }
    this.#stop.abort(error)
  }

  async #endAll(): Promise<void> {
    for (const share of this.#shares.values()) share.passOn(this.#stop.signal.reason)
    for (const share of this.#shares.values()) await share.ended
  }
}

/** One item, as seen by one member. */
class Share {
  readonly #client: Client
  readonly #lock: EphemeralMutex
  readonly #task: (held: Held) => void | Promise<void>
  readonly #onError: (error: unknown) => void
  #isWanted = false
  #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(
    client: Client,
    lock: EphemeralMutex,
    task: (held: Held) => void | Promise<void>,
    onError: (error: unknown) => void,
  ) {
    this.#client = client
    this.#lock = lock
    this.#task = task
    this.#onError = onError
  }

  /** Resolves when the task has ended and the item is released. */
  get ended(): Promise<void> | undefined {
    return this.#running
  }

  /** Takes the item when no other member owns it. */
  take(): void {
    this.#isWanted = true
    this.#running ??= this.#run()
  }

  /** Aborts the task's signal, and then releases the item. */
  passOn(reason: unknown): void {
    this.#isWanted = false
    this.#stop.abort(reason)
  }

  async #run(): Promise<void> {
    const pace = newPace(this.#client)
    while (this.#isWanted) {
      const { signal } = (this.#stop = new AbortController())
      try {
        await this.#own(signal)
      } catch (error) {
        this.#isWanted = false
        this.#onError(error)
      }
      await pace.wait(signal)
    }
    this.#running = undefined
  }

  /** Takes the item, and runs the task until the item is lost or the signal aborts. */
  async #own(stop: AbortSignal): Promise<void> {
    let lock: Held
    try {
      lock = await this.#lock.acquire({ signal: stop, watchOwnNode: true })
    } catch (error) {
      if (stop.aborted || isCode(error, ...TEMPORARY)) return
      throw error
    }
    const held = new HeldUntil(lock, stop)
    await runWhileHeld(this.#client, held, async () => {
      try {
        await this.#task(held)
        await aborted(held.signal)
      } catch (error) {
        if (!held.signal.aborted) throw error
      }
    })
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>(resolve => {
    onAbort(signal, resolve)
    if (signal.aborted) resolve()
  })
