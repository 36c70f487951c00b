// A group of processes: each sees which others are there, and their data.
import { checked, copyOfACL, newUuid } from '../../client/recipe-support.ts'
import { badArguments, join, nameOf, pathProblem } from '../../protocol/index.ts'
import { optionsProblem } from '../../options/checks.ts'
import type { Client, SignalOption } from '../../client/index.ts'
import type { CacheNode } from '../cache/changes.ts'
import { waitOptionChecks, type WaitOptions } from '../call/cancellable.ts'
import { closedError } from '../call/closed-error.ts'
import { Conversion, type Written } from '../call/codec.ts'
import { Followed } from '../changes/followed.ts'
import type { Iteration } from '../changes/publisher.ts'
import { isSameData, isSameNode, isSameState } from '../changes/same-state.ts'
import { ChildrenView, type ChildNodes } from './children-view.ts'
import { namings } from './member-names.ts'
import {
  membershipChecks,
  type GroupMember,
  type MembershipChange,
  type MembershipOptions,
} from './membership-options.ts'
import { PersistentEphemeral } from './persistent-ephemeral.ts'
import { startAll } from './session-work.ts'

/**
 * A group of processes. A member is in the group as long as its process runs: its node is created again if it is
 * deleted, and in each new session that {@link start} is called with. {@link members} follows all changes.
 * @example
 * await using group = new Membership('/workers', { id: 'host-1', data: 'eu' })
 * await group.start(zk)
 * group.members.map(({ id, data }) => `${id} ${data}`) // => ['host-1 eu']
 */
export class Membership<T = Buffer | null, In = Written<T>> extends Followed<MembershipChange<T>> {
  /** The directory in which each member has a node. */
  readonly path: string
  readonly #options: Pick<MembershipOptions, 'dialect' | 'acl' | 'observer'>
  readonly #conversion: Conversion<T, In>
  /** What the data of each node stands for, so that it is decoded once. */
  readonly #decoded = new WeakMap<CacheNode, Pick<GroupMember<T>, 'data' | 'error'>>()
  readonly #view: ChildrenView<MembershipChange<T>>
  #id: string | undefined
  #data: Buffer | null
  /** The node of this member. Undefined before the first {@link start}, and for an observer. */
  #node: PersistentEphemeral | undefined
  #isClosed = false

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(path: string, options: MembershipOptions<T, In> = {}) {
    const problem = pathProblem(path) ?? optionsProblem(options, membershipChecks) ?? memberProblem(path, options)
    if (problem !== undefined) throw badArguments('Membership', path, problem)
    const { id, data, codec, acl, dialect, observer } = options
    const view = new ChildrenView<MembershipChange<T>>(path, (before, after) => this.#changeOf(before, after))
    super(view.changes)
    this.path = path
    this.#view = view
    this.#options = { dialect, observer, acl: copyOfACL(acl) }
    this.#conversion = new Conversion('Membership', path, codec)
    this.#id = id
    this.#data = observer === true ? null : this.#conversion.encodeOption('data', data)
  }

  /** The id of this member; undefined for an observer, and before {@link start} if none was given. */
  get id(): string | undefined {
    return this.#id
  }

  /**
   * All members, in the order in which they joined. The list is kept up to date while the session lasts. Between two
   * sessions it stays as it was.
   */
  get members(): readonly GroupMember<T>[] {
    return this.#membersIn(this.#view.children)
  }

  /**
   * Becomes a member in the session of this client, unless it is an observer, and follows the group. Resolves when the
   * member's node exists and {@link members} contains it. Call it again with the client of each new session, for
   * example in the function of `supervise`. If the call fails, what it has begun is undone.
   * @throws ZooKeeperError NOAUTH, INVALIDACL, CLOSED after {@link close}; the error of the session if that ends first;
   * RecipeError TIMEOUT; the signal's reason
   * @example
   * await using group = new Membership('/workers', { id: 'host-1' })
   * await group.start(zk, { timeout: 10_000 })
   * await zk.exists('/workers/host-1').then(stat => stat?.ephemeralOwner) // => zk.sessionId
   */
  start(client: Client, options: WaitOptions = {}): Promise<void> {
    const works = () => {
      if (this.#options.observer !== true) this.#node ??= this.#newNode(client)
      return this.#node === undefined ? [this.#view] : [this.#node, this.#view]
    }
    const untilListed = async (signal: AbortSignal) => {
      const path = this.#node?.path
      if (path === undefined) return
      const isListed = () => this.#view.children.get(path)?.stat.ephemeralOwner === client.sessionId
      await this.#view.loop?.until(isListed, signal)
    }
    return startAll(client, this.path, options, works, untilListed)
  }

  /**
   * Replaces the data of this member. Resolves when its node has the data. Before {@link start}, or between two
   * sessions, it resolves at once, and the member joins with that data.
   * @throws ZooKeeperError BADARGUMENTS, also if the dialect has no data, or this is an observer; otherwise as setData()
   * of PersistentEphemeral
   * @example
   * await using group = new Membership('/workers', { id: 'host-1', data: 'eu' })
   * await group.start(zk)
   * await group.setData('us')
   * await zk.getData('/workers/host-1').then(({ data }) => data?.toString()) // => 'us'
   */
  async setData(data: In, options: WaitOptions = {}): Promise<void> {
    const problem = dataProblem(this.#options)
    if (problem !== undefined) throw badArguments('setData', this.path, problem)
    const encoded = this.#conversion.encode('setData', data)
    checked('setData', this.path, options, waitOptionChecks)
    if (this.#isClosed) throw closedError('setData', this.path)
    this.#data = encoded
    await this.#node?.setData(encoded, options)
  }

  /**
   * Yields first all present members, as joined, and then each change. A slow reader gets several changes as one. Goes on
   * in the next session. For a listener, the first {@link start} is a change.
   * @throws ZooKeeperError BADARGUMENTS; when iterating: the signal's reason
   * @example
   * await using group = new Membership('/workers', { id: 'host-1' })
   * await group.start(zk)
   * for await (const { joined } of group.changes()) {
   *   joined.map(({ id }) => id) // => ['host-1']
   *   break
   * }
   */
  override changes(options: SignalOption = {}): Iteration<MembershipChange<T>> {
    return this.#view.changes.iterate(options)
  }

  /**
   * Leaves the group, and ends the loops over {@link changes}. Resolves when the node is gone or the session has ended.
   * Later calls reject with CLOSED. May be called again.
   * @throws ZooKeeperError NOAUTH if the server refuses to delete the node
   * @example
   * const group = new Membership('/workers', { id: 'host-1' })
   * await group.start(zk)
   * await group.close()
   * await zk.exists('/workers/host-1') // => null
   */
  override async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#view.close(), this.#node?.close()])
  }

  #newNode(client: Client): PersistentEphemeral {
    const id = (this.#id ??= newUuid(client))
    const { acl, dialect = 'curator' } = this.#options
    const naming = namings[dialect]
    const path = join(this.path, naming.nameOf(id, newUuid(client).replaceAll('-', '')))
    return new PersistentEphemeral(path, { data: naming.dataOf(id, this.#data), acl })
  }

  /** Returns undefined if the members are the same. For a reader that begins, all are new. */
  #changeOf(before: ChildNodes | undefined, after: ChildNodes): MembershipChange<T> | undefined {
    const old = before ?? new Map<string, CacheNode>()
    const without = (others: ChildNodes) => (node: CacheNode) => {
      const other = others.get(node.path)
      return other === undefined || !isSameNode(other.stat, node.stat)
    }
    const isUpdated = (node: CacheNode) => {
      const other = old.get(node.path)
      if (other === undefined || !isSameNode(other.stat, node.stat)) return false
      return !isSameState(other.stat, node.stat, () => isSameData(other.data, node.data))
    }
    const [joined, left, updated] = [
      this.#membersIn(after, without(old)),
      this.#membersIn(old, without(after)),
      this.#membersIn(after, isUpdated),
    ]
    if (before !== undefined && joined.length + left.length + updated.length === 0) return undefined
    return { members: this.#membersIn(after), joined, left, updated }
  }

  /** Returns the members among these nodes, in the order of their creation. */
  #membersIn(children: ChildNodes, isMeant: (node: CacheNode) => boolean = () => true): GroupMember<T>[] {
    const naming = namings[this.#options.dialect ?? 'curator']
    return [...children.values()]
      .filter(isMeant)
      .sort((a, b) => (a.stat.czxid < b.stat.czxid ? -1 : 1))
      .flatMap(node => {
        const { path, data = null, stat } = node
        const id = naming.idOf(nameOf(path), data)
        return id === undefined ? [] : [{ id, ...this.#decode(node), session: stat.ephemeralOwner, path }]
      })
  }

  #decode(node: CacheNode): Pick<GroupMember<T>, 'data' | 'error'> {
    let decoded = this.#decoded.get(node)
    if (decoded !== undefined) return decoded
    try {
      decoded = { data: this.#conversion.decode(node.data ?? null, node.path) }
    } catch (error) {
      decoded = { data: null, error: error as Error }
    }
    this.#decoded.set(node, decoded)
    return decoded
  }
}

function memberProblem<T, In>(path: string, options: MembershipOptions<T, In>): string | undefined {
  const { id, data, codec, dialect = 'curator', observer } = options
  const problem = data === undefined ? undefined : dataProblem({ dialect, observer })
  if (problem !== undefined) return problem
  if (codec !== undefined && namings[dialect].dataProblem !== undefined) return namings[dialect].dataProblem
  if (id === undefined) return undefined
  if (observer === true) return 'an observer is no member, so it has no id'
  const name = namings[dialect].nameOf(id, 'x')
  if (name === '' || name.includes('/')) return `the id '${id}' must be a name without '/'`
  return pathProblem(join(path, name))
}

const dataProblem = ({ dialect = 'curator', observer }: Pick<MembershipOptions, 'dialect' | 'observer'>) =>
  observer === true ? 'an observer is no member, so it has no data' : namings[dialect].dataProblem
