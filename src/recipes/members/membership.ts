// A group of processes: each sees which others are there, and their data.
import { aSignal, callLater, checked, inBackground, newDataProblem, newUuid } from '../../client/recipe-support.ts'
import { badArguments, join, nameOf, pathProblem } from '../../protocol/index.ts'
import { optionsProblem, type Checks } from '../../protocol/option-checks.ts'
import type { Client, Data, SignalOption } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import { cancellable, waitOptionChecks, type WaitOptions } from '../node/cancellable.ts'
import type { CacheNode } from '../cache/changes.ts'
import { ChildrenView, type Children } from './children-view.ts'
import { namings, type MembershipDialect } from './member-names.ts'
import { membershipChecks, type Member, type MembershipChange, type MembershipOptions } from './membership-options.ts'
import { PersistentEphemeral } from './persistent-ephemeral.ts'
import { closed, SessionLoop } from './session-loop.ts'

const signalChecks: Checks<SignalOption> = { signal: aSignal }

/**
 * A group of processes. A member is in the group as long as its process runs: its node is created again if it is
 * deleted, and in each new session that {@link join} is called with. {@link members} follows all changes.
 * @example
 * await using group = new Membership('/workers', { id: 'host-1', data: 'eu' })
 * await group.join(zk)
 * group.members.map(({ id, data }) => `${id} ${data}`) // => ['host-1 eu']
 */
export class Membership implements AsyncDisposable {
  /** The directory in which each member has a node. */
  readonly path: string
  readonly #options: MembershipOptions
  readonly #dialect: MembershipDialect
  readonly #view: ChildrenView
  #id: string | undefined
  #data: Data
  #node: PersistentEphemeral | undefined
  #loop: SessionLoop | undefined

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(path: string, options: MembershipOptions = {}) {
    const problem = pathProblem(path) ?? optionsProblem(options, membershipChecks) ?? memberProblem(path, options)
    if (problem !== undefined) throw badArguments('Membership', path, problem)
    const { id, data = '', dialect = 'curator', onChange } = options
    this.path = path
    this.#options = options
    this.#dialect = dialect
    this.#id = id
    this.#data = data
    this.#view = new ChildrenView(path, (client, before, after) => {
      const change = this.#changeOf(before, after)
      if (onChange !== undefined && change !== undefined) callLater(client, () => onChange(change))
    })
  }

  /** The id of this member; undefined before {@link join}, if none was given. */
  get id(): string | undefined {
    return this.#id
  }

  /** True from the call of {@link join} until {@link leave}, also between two sessions. */
  get isMember(): boolean {
    return this.#node !== undefined
  }

  /**
   * All members, in the order in which they joined. The list is kept up to date while the session lasts. Between two
   * sessions it stays as it was.
   */
  get members(): readonly Member[] {
    return this.#membersIn(this.#view.latest.value)
  }

  /**
   * Becomes a member in the session of this client, and follows the group. Resolves when the member's node exists and
   * {@link members} contains it. Call it again with the client of each new session, for example in the function of
   * `supervise`.
   * @throws ZooKeeperError NOAUTH, INVALIDACL; the error of the session if that ends first; RecipeError TIMEOUT; the
   * signal's reason
   * @example
   * await using group = new Membership('/workers', { id: 'host-1' })
   * await group.join(zk, { timeout: 10_000 })
   * group.isMember // => true
   */
  join(client: Client, options: WaitOptions = {}): Promise<void> {
    return this.#begin('join', client, options, async signal => {
      const node = (this.#node ??= this.#newNode(client))
      await Promise.all([node.start(client), this.#follow(client)])
      await this.#untilListed(node.path, client.sessionId, signal)
    })
  }

  /**
   * Follows the group in the session of this client, without joining it. Otherwise like {@link join}.
   * @example
   * await using group = new Membership('/workers')
   * await group.watch(zk)
   * group.members // => []
   * group.isMember // => false
   */
  watch(client: Client, options: WaitOptions = {}): Promise<void> {
    return this.#begin('watch', client, options, () => this.#follow(client))
  }

  /**
   * Ends the membership, but continues to follow the group. Resolves when the node is gone or the session has ended.
   * @example
   * await using group = new Membership('/workers', { id: 'host-1' })
   * await group.join(zk)
   * await group.leave()
   * await zk.exists('/workers/host-1') // => null
   */
  async leave(): Promise<void> {
    const node = this.#node
    this.#node = undefined
    await node?.close()
  }

  /**
   * Replaces the data of this member. Resolves when its node has the data. If it is no member, or between two sessions,
   * it resolves at once, and joins with that data.
   * @throws ZooKeeperError BADARGUMENTS also if the dialect has no data; otherwise as setData() of PersistentEphemeral
   * @example
   * await using group = new Membership('/workers', { id: 'host-1', data: 'eu' })
   * await group.join(zk)
   * await group.setData('us')
   * await zk.getData('/workers/host-1').then(({ data }) => data?.toString()) // => 'us'
   */
  async setData(data: Data): Promise<void> {
    const problem = newDataProblem(data) ?? namings[this.#dialect].dataProblem
    if (problem !== undefined) throw badArguments('setData', this.path, problem)
    this.#data = data
    await this.#node?.setData(data)
  }

  /**
   * Yields first all members, as joined, and then each change. A slow reader gets several changes as one. Goes on in
   * the next session. Ends when the signal aborts, and at {@link close}.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * await using group = new Membership('/workers', { id: 'host-1' })
   * await group.join(zk)
   * for await (const { joined } of group.changes()) {
   *   joined.map(({ id }) => id) // => ['host-1']
   *   break
   * }
   */
  changes(options: SignalOption = {}): AsyncGenerator<MembershipChange, void, undefined> {
    return this.#changes(this.#view.latest.values(checked('changes', this.path, options, signalChecks).signal))
  }

  /**
   * Leaves the group, and ends everything. May be called again. {@link join} can follow. Throws as {@link leave}.
   * @example
   * const group = new Membership('/workers', { id: 'host-1' })
   * await group.join(zk)
   * await group.close()
   * await zk.exists('/workers/host-1') // => null
   */
  async close(): Promise<void> {
    this.#view.latest.end()
    await this.#stop()
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Ends the work in this session. The iterators of {@link changes} wait for the next one. */
  async #stop(): Promise<void> {
    const loop = this.#loop
    this.#loop = undefined
    await Promise.all([loop?.stop(closed(this.path)), this.leave()])
  }

  #begin(
    op: string,
    client: Client,
    options: WaitOptions,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    checkArguments(op, client, this.path)
    const undo = () => (this.#loop?.isOf(client) === true ? this.#stop() : Promise.resolve())
    return cancellable(client, { op, path: this.path, options, checks: waitOptionChecks }, work, undo)
  }

  #follow(client: Client): Promise<void> {
    const previous = this.#loop
    if (previous?.isOf(client) !== true || !previous.isRunning) {
      this.#loop = new SessionLoop(client, loop => this.#view.follow(loop))
      if (previous !== undefined) inBackground(client, previous.stop(closed(this.path)))
    }
    return (this.#loop as SessionLoop).when(0)
  }

  /** Waits until {@link members} contains the member that this session has created. */
  async #untilListed(path: string, session: bigint, signal: AbortSignal): Promise<void> {
    const isListed = (children: Children) => children.get(path)?.stat.ephemeralOwner === session
    const listed = async () => {
      for await (const children of this.#view.latest.values(signal)) if (isListed(children)) return
    }
    // The second promise rejects when the session ends.
    await Promise.race([listed(), this.#loop?.when(Infinity)])
  }

  #newNode(client: Client): PersistentEphemeral {
    const id = (this.#id ??= newUuid(client))
    const naming = namings[this.#dialect]
    const { acl } = this.#options

    const path = join(this.path, naming.nameOf(id, newUuid(client).replaceAll('-', '')))
    return new PersistentEphemeral(path, { data: naming.dataOf(id, this.#data), acl })
  }

  async *#changes(states: AsyncIterable<Children>): AsyncGenerator<MembershipChange, void, undefined> {
    let before: Children = new Map()
    for await (const after of states) {
      const change = this.#changeOf(before, after)
      before = after
      if (change !== undefined) yield change
    }
  }

  #changeOf(before: Children, after: Children): MembershipChange | undefined {
    const without = (others: Children) => (node: CacheNode) => others.get(node.path)?.stat.czxid !== node.stat.czxid
    const isUpdated = (node: CacheNode) => {
      const old = before.get(node.path)?.stat
      return old?.czxid === node.stat.czxid && old.mzxid !== node.stat.mzxid
    }
    const [joined, left, updated] = [
      this.#membersIn(after, without(before)),
      this.#membersIn(before, without(after)),
      this.#membersIn(after, isUpdated),
    ]
    if (joined.length + left.length + updated.length === 0) return undefined
    return { members: this.#membersIn(after), joined, left, updated }
  }

  /** Returns the members among these nodes, in the order of their creation. */
  #membersIn(children: Children, isMeant: (node: CacheNode) => boolean = () => true): Member[] {
    return [...children.values()]
      .filter(isMeant)
      .sort((a, b) => (a.stat.czxid < b.stat.czxid ? -1 : 1))
      .flatMap(({ path, data = null, stat }) => {
        const id = namings[this.#dialect].idOf(nameOf(path), data)
        return id === undefined ? [] : [{ id, data, session: stat.ephemeralOwner, path }]
      })
  }
}

function memberProblem(path: string, { id, data, dialect = 'curator' }: MembershipOptions): string | undefined {
  const naming = namings[dialect]

  if (data !== undefined && naming.dataProblem !== undefined) return naming.dataProblem
  if (id === undefined) return undefined
  const name = naming.nameOf(id, 'x')
  if (name === '' || name.includes('/')) return `the id '${id}' must be a name without '/'`
  return pathProblem(join(path, name))
}
