// Recipes other than locks. This file: barriers, with Curator's nodes. Clients wait for one client, or for each other.
// May import: recipes/locks, recipes/queue, recipes/changes, recipes/node, recipes/call, client/index.ts,
// client/recipe-support.ts, options, protocol, runtime.
import { listChildren } from '../node/children.ts'
import {
  anACL,
  checked,
  copyOfACL,
  inBackground,
  newPace,
  newUuid,
  unlessRefused,
  type Pace,
} from '../../client/recipe-support.ts'
import { badArguments, join, nameOf, type ACL, type Stat } from '../../protocol/index.ts'
import { optionsProblem, type Checks } from '../../options/checks.ts'
import { untilAborted } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments, countProblem } from '../call/arguments.ts'
import { cancellable, waitOptionChecks, type RecipeCall, type WaitOptions } from '../call/cancellable.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { OwnNode } from '../node/own-node.ts'
import { nextChange, readRepeatedly, readWatched, type Seen } from '../node/read-with-watch.ts'

/**
 * Options of both barriers.
 * @example
 * const options: BarrierOptions = { acl: readOnlyACL }
 * await new Barrier(zk, '/migration', options).raise()
 * const { acl } = await zk.getACL('/migration')
 * acl // => readOnlyACL
 */
export interface BarrierOptions {
  /**
   * The ACL of all created nodes, except missing nodes above the barrier's path. Default: the option `acl` of `connect`.
   */
  acl?: readonly ACL[] | undefined
}

const optionChecks: Checks<BarrierOptions> = { acl: anACL }

/**
 * A barrier: clients wait until it is down. It is up while its node exists. It can be shared with Curator's
 * DistributedBarrier.
 * @example
 * const barrier = new Barrier(zk, '/barriers/migration')
 * await barrier.raise()
 * const waiting = new Barrier(other, '/barriers/migration').wait({ timeout: 60_000 })
 * await barrier.lower()
 * await waiting // => undefined
 */
export class Barrier {
  /** The node that blocks while it exists. */
  readonly path: string
  readonly #client: Client
  readonly #acl: readonly ACL[] | undefined

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: BarrierOptions = {}) {
    checkArguments('Barrier', client, path, optionsProblem(options, optionChecks))
    this.path = path
    this.#client = client.chroot('/')
    this.#acl = copyOfACL(options.acl)
  }

  /**
   * Raises the barrier: creates its node. Does nothing if it is up already. The barrier stays up after the end of the
   * session. Waits through lost connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * const barrier = new Barrier(zk, '/migration')
   * await barrier.raise()
   * await barrier.raise()
   * await zk.exists('/migration').then(stat => stat !== null) // => true
   */
  raise(options: WaitOptions = {}): Promise<void> {
    return this.#wait('raise', options, signal =>
      ensureDirectory(this.#client, this.path, { mode: 'persistent', acl: this.#acl, signal }),
    )
  }

  /**
   * Lowers the barrier: deletes its node, and so ends every wait. Does nothing if it is down already. Waits through lost
   * connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, NOTEMPTY, SESSIONEXPIRED
   * @example
   * const barrier = new Barrier(zk, '/migration')
   * await barrier.raise()
   * await barrier.lower()
   * await barrier.lower()
   * await zk.exists('/migration') // => null
   */
  lower(options: WaitOptions = {}): Promise<void> {
    return this.#wait('lower', options, signal =>
      unlessRefused(
        this.#client.retry(() => this.#client.delete(this.path, { signal }), { signal }),
        'NONODE',
      ),
    )
  }

  /**
   * Resolves when the barrier is down; at once if it is down already.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example BADARGUMENTS, SESSIONEXPIRED, NOAUTH
   * @example
   * const barrier = new Barrier(zk, '/migration')
   * await barrier.wait() // => undefined
   * await barrier.raise()
   * await barrier.wait({ timeout: 10 }) // throws TIMEOUT
   */
  wait(options: WaitOptions = {}): Promise<void> {
    const isDown = (signal: AbortSignal) =>
      readRepeatedly(
        this.#client,
        scope => this.#watch(scope),
        isUp => !isUp,
        signal,
      )
    return this.#wait('wait', options, isDown, isAnswered => (isAnswered ? 'the barrier is up' : undefined))
  }

  /**
   * Reads, behind a sync, whether the barrier is up. The connected server may lag behind the one where it was raised.
   * Not with exists(), which would also set a watch while the barrier is down.
   */
  async #watch(signal: AbortSignal): Promise<Seen<boolean>> {
    const syncing = this.#client.sync(this.path, { signal })
    const reading = readWatched(signal, options => this.#client.getData(this.path, options))
    const [read] = await Promise.all([unlessRefused(reading, 'NONODE'), syncing])
    return { value: read !== undefined, changed: read?.changed }
  }

  #wait(
    op: string,
    options: WaitOptions,
    work: (signal: AbortSignal) => Promise<void>,
    waitsFor?: RecipeCall['waitsFor'],
  ): Promise<void> {
    return cancellable(this.#client, { op, path: this.path, options, waitsFor }, work)
  }
}

/** A member that has entered or is about to. */
interface OwnMember {
  readonly node: OwnNode
  /** The node `ready` by which it has entered. */
  ready: Stat | undefined
}

/**
 * A barrier at the start and the end of some work: `count` members enter together, and all leave together. It can
 * be shared with Curator's DistributedDoubleBarrier. Each DoubleBarrier object is one member, and can enter again after
 * it has left.
 * @example
 * const [mine, theirs] = [zk, other].map(client => new DoubleBarrier(client, '/barriers/start', 2))
 * await Promise.all([mine?.enter(), theirs?.enter()])
 * const { children } = await zk.getChildren('/barriers/start')
 * children.length // => 3
 * await Promise.all([mine?.leave(), theirs?.leave()])
 */
export class DoubleBarrier {
  /** The directory in which each member has a node. */
  readonly path: string
  /** How many members must enter. */
  readonly count: number
  readonly #client: Client
  readonly #acl: readonly ACL[] | undefined
  #member: OwnMember | undefined
  /** Ends when the node of a call that failed is gone. Otherwise the next call would count it as another member. */
  #withdrawal: Promise<void> = Promise.resolve()

  /**
   * @param count how many members must enter, 1 or more; the same number in all clients
   * @throws ZooKeeperError BADARGUMENTS
   */
  constructor(client: Client, path: string, count: number, options: BarrierOptions = {}) {
    const problems = [countProblem(count), optionsProblem(options, optionChecks)]
    checkArguments('DoubleBarrier', client, path, ...problems)
    this.path = path
    this.count = count
    this.#client = client.chroot('/')
    this.#acl = copyOfACL(options.acl)
  }

  /**
   * Resolves when `count` members have entered. A member whose call fails is not counted any more.
   * @throws ZooKeeperError BADARGUMENTS, also if this member has entered already; RecipeError TIMEOUT; the signal's
   * reason; other ZooKeeperErrors, for example SESSIONEXPIRED, NOAUTH
   * @example
   * const alone = new DoubleBarrier(zk, '/start', 2)
   * await alone.enter({ timeout: 10 }) // throws TIMEOUT
   * await Promise.all([alone.enter(), new DoubleBarrier(other, '/start', 2).enter()])
   * await alone.enter() // throws BADARGUMENTS
   */
  async enter(options: WaitOptions = {}): Promise<void> {
    checked('enter', this.path, options, waitOptionChecks)
    if (this.#member !== undefined)
      throw badArguments('enter', this.path, 'this member has entered already: call leave() first')
    const member: OwnMember = (this.#member = { node: this.#newNode(), ready: undefined })
    try {
      await this.#wait('enter', options, async signal => {
        await untilAborted(this.#withdrawal, signal)
        await member.node.create(nothing, signal)
        const pace = newPace(this.#client)
        while (!(await this.#client.retry(() => this.#isReady(member, pace, signal), { signal })));
      })
    } catch (error) {
      this.#member = undefined
      this.#withdraw(() => member.node.remove())
      throw error
    }
  }

  /**
   * Resolves when all members that were inside have left. A member whose call fails has left nevertheless.
   * @throws ZooKeeperError BADARGUMENTS, also if this member has not entered; RecipeError TIMEOUT; the signal's reason;
   * other ZooKeeperErrors, for example SESSIONEXPIRED, NOAUTH
   * @example
   * const member = new DoubleBarrier(zk, '/work', 1)
   * await member.leave() // throws BADARGUMENTS
   * await member.enter()
   * await member.leave()
   * await zk.getChildren('/work').then(({ children }) => children) // => []
   */
  async leave(options: WaitOptions = {}): Promise<void> {
    // Checked first, because a call that fails later counts as left.
    checked('leave', this.path, options, waitOptionChecks)
    const member = this.#member
    if (member === undefined) throw badArguments('leave', this.path, 'this member has not entered: call enter() first')
    this.#member = undefined
    try {
      await this.#wait('leave', options, async signal => {
        // Does not wait for members that enter again in the meantime.
        const inside = new Set(await this.#client.retry(() => this.#members(signal), { signal }))
        const pace = newPace(this.#client)
        while (!(await this.#client.retry(() => this.#haveLeft(member, inside, pace, signal), { signal })));
        // If the last member has died or is Curator's, its node was deleted before `ready`.
        await this.#deleteReady(member)
      })
    } catch (error) {
      this.#withdraw(async () => {
        await member.node.remove()
        if ((await this.#client.retry(() => this.#members())).length === 0) await this.#deleteReady(member)
      })
      throw error
    }
  }

  #wait(op: string, options: WaitOptions, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const others = `not all members have ${op === 'leave' ? 'left' : 'entered'}`
    const waitsFor = (isAnswered: boolean) => (isAnswered ? others : undefined)
    return cancellable(this.#client, { op, path: this.path, options, waitsFor }, work)
  }

  /** Cleans up in the background after a call that failed. The next call waits for it. */
  #withdraw(cleanUp: () => Promise<void>): void {
    const before = this.#withdrawal
    this.#withdrawal = Promise.all([before, cleanUp()]).then(nothing, nothing)
    inBackground(this.#client, this.#withdrawal)
  }

  /**
   * Returns true if all members have entered. Otherwise returns false after an event, or after a write of its own: call
   * it again then. If another client has deleted the member's node, creates it again, because otherwise the other
   * members would wait for ever.
   */
  async #isReady(member: OwnMember, pace: Pace, signal: AbortSignal): Promise<boolean> {
    const { node } = member
    const [ready, own, members] = await Promise.all([
      readWatched(signal, options => this.#client.exists(this.#ready, options)),
      readWatched(signal, options => this.#client.exists(node.node.path, options)),
      this.#members(signal),
    ])
    if (ready.value !== null && (await this.#isReadyOf(ready.value, node, members, signal))) {
      member.ready = ready.value
      return true
    }
    if (own.value !== null && members.length < this.count) {
      await Promise.race([ready.changed, own.changed])
      return false
    }
    if (own.value === null) await node.create(nothing, signal)
    else await this.#writeReady(ready.value)
    await pace.wait(signal)
    return false
  }

  /** Returns false if `ready` is older than all members: it is then a remainder of earlier members that died inside. */
  async #isReadyOf({ mzxid }: Stat, own: OwnNode, members: string[], signal: AbortSignal): Promise<boolean> {
    if (own.node.czxid < mzxid) return true
    const all = await Promise.all(members.map(name => this.#client.exists(join(this.path, name), { signal })))
    return all.some(stat => stat !== null && stat.czxid < mzxid)
  }

  /**
   * Creates `ready`, or writes its data again if it is an old one. Does not delete it first, because another member may
   * just have written it.
   */
  async #writeReady(old: Stat | null): Promise<void> {
    const client = this.#client
    const create = () => client.create(this.#ready, '', { acl: this.#acl })
    await unlessRefused<unknown>(old === null ? create() : client.setData(this.#ready, ''), 'NODEEXISTS', 'NONODE')
  }

  /**
   * Deletes `ready`, but not that of other members, which may have entered since this one left. No request can do so in
   * one step. So a `ready` that others delete and create again between the two requests here is deleted too.
   */
  #deleteReady({ ready }: OwnMember): Promise<void> {
    const deleting = this.#client.retry(async () => {
      const present = await this.#client.exists(this.#ready)
      if (present === null || present.czxid !== ready?.czxid) return
      await this.#client.delete(this.#ready, { version: ready.version })
    })
    return unlessRefused(deleting, 'NONODE', 'BADVERSION')
  }

  /**
   * Removes the node of the last member together with `ready`. So the others, which wait for this, do not find that
   * `ready` any more.
   */
  async #removeLast({ node, ready }: OwnMember): Promise<void> {
    if (node.isKnown && ready !== undefined) {
      const both = [{ delete: node.node.path }, { delete: this.#ready, version: ready.version }]
      // After a failure, the node is removed alone.
      await this.#client.multi(both).catch(nothing)
    }
    await node.remove()
  }

  /** Returns true if all other members have left, and false after an event: call it again then. */
  async #haveLeft(member: OwnMember, inside: ReadonlySet<string>, pace: Pace, signal: AbortSignal): Promise<boolean> {
    const { node } = member
    const remaining = (await this.#members(signal)).filter(name => inside.has(name))
    const { removesOwn, waitsFor } = leaveStep(remaining, node.isKnown ? node.node.name : undefined)
    if (removesOwn) await (waitsFor === undefined ? this.#removeLast(member) : node.remove())
    if (waitsFor === undefined) return true
    if (!(await nextChange(this.#client, join(this.path, waitsFor), signal))) await pace.wait(signal)
    return false
  }

  get #ready(): string {
    return join(this.path, 'ready')
  }

  /** Lists the members. Returns none if the directory does not exist, because the server deletes an empty container. */
  async #members(signal?: AbortSignal): Promise<string[]> {
    const { children } = await listChildren(this.#client, this.path, { signal })
    return children.filter(name => name !== nameOf(this.#ready))
  }

  #newNode(): OwnNode {
    const [client, acl] = [this.#client, this.#acl]
    const path = join(this.path, newUuid(client))
    return new OwnNode({
      ...{ client, acl, data: '', sequenceOf: undefined, isUnique: true, mark: undefined },
      path: () => path,
      directory: { mode: 'container', acl },
    })
  }
}

/**
 * Decides how a member leaves, by the names of the members still inside. The lowest keeps its node until it is the
 * last, and waits for the highest. Each other member removes its node, and waits for the lowest. So each deletion but
 * the last wakes at most one member.
 */
export function leaveStep(
  inside: readonly string[],
  own: string | undefined,
): { removesOwn: boolean; waitsFor: string | undefined } {
  const [lowest, ...others] = [...inside].sort()
  return lowest === own
    ? { removesOwn: others.length === 0, waitsFor: others.at(-1) }
    : { removesOwn: true, waitsFor: lowest }
}

const nothing = () => Promise.resolve()
