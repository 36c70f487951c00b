// One node of a recipe: created, found again after a lost reply, watched, removed. This file: the node of one
// contender.
// May import: recipes/call, client/index.ts, client/recipe-support.ts, protocol, runtime.
import { hasACL, isTerminal, newPace, type Pace } from '../../client/recipe-support.ts'
import { isCode, join, nameOf, parentOf, ZooKeeperError, type ACL, type Stat } from '../../protocol/index.ts'
import { ENDED, Scope } from '../../runtime/abort.ts'
import type { Client, ReadOptions } from '../../client/index.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import { listChildren, readNodes } from './children.ts'
import { createParent, type DirectoryOptions } from './ensure-directory.ts'
import { NodeWatch, type WatchTarget } from './node-watch.ts'
import { isMarked } from './owner-tag.ts'

export interface Node {
  readonly path: string
  readonly name: string
  readonly czxid: bigint
}

export interface Found {
  path: string
  stat: Stat
}

/** How a contender's ephemeral node is created, and recognized if the reply to its create was lost. */
export interface NodePlan {
  readonly client: Client
  /** Returns the node's path; of a sequential node, without its number. Called for each create. */
  path(): string
  readonly data: string
  readonly acl: readonly ACL[] | undefined
  /** Returns the number in the name of a sequential node. Undefined if the node is not sequential. */
  readonly sequenceOf: ((name: string) => number | undefined) | undefined
  /** True if no node of another contender will ever have this node's path. */
  readonly isUnique: boolean
  /** The text with which the data begins, and no other node's. Undefined if the path distinguishes the node. */
  readonly mark: string | undefined
  /** True if a server must have created the session before the path is known. */
  readonly needsSession?: boolean
  /** With what the node's parent is created if it is missing. Undefined if {@link ensureParent} does that. */
  readonly directory?: DirectoryOptions | undefined
  /** Creates the node's missing parent, after which the node may have another path. */
  ensureParent?(signal: AbortSignal): Promise<void>
  /** Creates the node in another way than by create(). Sends the request before it returns. */
  create?(path: string, data: string): Promise<Found>
  /** Deletes the node, which is known to be ours, in another way than by delete(). */
  delete?(path: string): Promise<unknown>
}

export class OwnNode {
  readonly #plan: NodePlan
  #node: Node | undefined
  /** The path in the latest create, if its outcome is unknown: a node of ours may exist. */
  #uncertain: string | undefined
  #removing: Promise<void> | undefined
  #watch: NodeWatch | undefined
  /** Removes the watches on this node. */
  #watching = new Scope()

  constructor(plan: NodePlan) {
    this.#plan = plan
  }

  get node(): Node {
    if (this.#node === undefined) throw new Error('the node is not known')
    return this.#node
  }

  /** This node, and those that are created and removed with it. */
  get nodes(): readonly Node[] {
    return [this.node]
  }

  /** True from the reply that names the node until the node is removed. {@link existsAtServer} asks the server. */
  get isKnown(): boolean {
    return this.#node !== undefined
  }

  get isUnique(): boolean {
    return this.#plan.isUnique
  }

  /** Returns true if the Stat is that of this node, and not of a later node with the same name. */
  owns({ czxid, ephemeralOwner }: Stat): boolean {
    return czxid === this.#node?.czxid && ephemeralOwner === this.#plan.client.sessionId
  }

  /**
   * Sets a watch on this node, unless a current one will still report its deletion. Sends the request before it
   * returns.
   * @param onChange called after each change of the watch's status
   */
  watch(onChange: () => void = () => undefined): NodeWatch {
    const known = this.#watch
    if (known?.isPending === true && known.isCurrent) {
      known.onChange = onChange
      return known
    }
    known?.ignore()
    return (this.#watch = NodeWatch.read(this.#plan.client, this.#watched(onChange), stat => this.owns(stat)))
  }

  /**
   * Sets the first watch on this node together with watches on older nodes, by one request, which it sends before it
   * returns.
   * @param others nodes that existed after this one was created
   * @returns the watches on the others. Undefined, without a request, if a node must be read
   */
  watchWith(others: readonly WatchTarget[], onChange: () => void): NodeWatch[] | undefined {
    // With an ACL of its own, the session may not read this node, and newer servers then send no events of it.
    if (this.#watch !== undefined || this.#plan.acl !== undefined || hasACL(this.#plan.client)) return undefined
    const { client } = this.#plan
    const [own, ...more] = NodeWatch.watchTogether(client, [this.#watched(onChange), ...others], this.node.czxid) ?? []
    this.#watch = own
    return own && more
  }

  #watched(onChange: () => void): WatchTarget {
    return { path: this.node.path, signal: this.#watching.signal, onChange }
  }

  /** Calls back, at once or later, if a watch on this node reports its deletion. Sets no watch. */
  onGone(callback: () => void): void {
    const watch = this.#watch
    if (watch === undefined) return
    watch.onChange = () => {
      if (watch.status === 'gone') callback()
    }
    watch.onChange()
  }

  /** Removes the watches on this node. */
  stopWatching(): void {
    this.#watch?.ignore()
    this.#watch = undefined
    this.#watching.abort(ENDED)
    this.#watching = new Scope()
  }

  /**
   * Creates the node, and its parent if that is missing. Sends the request of `read` together with the create. The
   * server executes both in order, so the read includes the new node, and a free lock takes one round trip. If the
   * directory is missing, the second round trip creates all.
   * @throws RecipeError EXHAUSTED if the node's number is one that can repeat
   */
  async create<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { client } = this.#plan
    this.#node = undefined
    let pace: Pace | undefined
    let isParentMissing = false
    for (;;) {
      signal.throwIfAborted()
      // A create that is queued for a connection cannot be cancelled, so wait for the connection first.
      const mustWait = client.state === 'suspended' || (this.#plan.needsSession && client.state === 'connecting')
      if (mustWait) await client.whenConnected({ signal })
      const { data, acl, sequenceOf, directory } = this.#plan
      const path = (this.#uncertain = this.#plan.path())
      const mode = sequenceOf ? 'ephemeralSequential' : 'ephemeral'
      const creatingParent =
        isParentMissing && directory ? createParent(client, path, { ...directory, signal }) : undefined
      creatingParent?.catch(() => undefined)
      const creating = this.#plan.create?.(path, data) ?? client.create(path, data, { mode, acl })
      const reading = read().then(
        value => ({ value }),
        () => undefined,
      )
      const failure = await creating.then(
        found => {
          this.#own(found)
        },
        (error: unknown) => ({ error }),
      )
      const result = await reading
      if (failure !== undefined) {
        isParentMissing = isCode(failure.error, 'NONODE')
        if (isParentMissing) await creatingParent
        await this.#recover(failure.error, signal)
      }
      if (!this.isKnown) {
        await (pace ??= newPace(client)).wait(signal)
        continue
      }
      // `sequenceOf` may read only the digits and miss a minus sign, so the length of the name decides too.
      const isNegative = this.node.path.length > path.length + DIGITS
      if (sequenceOf && (isNegative || isExhausted(sequenceOf(this.node.name)))) throw this.#exhausted(path)
      return failure === undefined && result !== undefined ? result.value : client.retry(read, { signal })
    }
  }

  /**
   * Handles a failed create. Adopts the node if the server has created it nevertheless. Returns without a node if
   * another create may succeed.
   * @throws the error of the create if another create would fail too
   */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const path = this.#uncertain ?? ''
    if (fateOf(error) === 'unknown') await this.#find()
    else this.#uncertain = undefined
    if (this.isKnown) return
    if (isCode(error, 'NONODE')) await this.#plan.ensureParent?.(signal)
    else if (isCode(error, 'CONNECTIONLOSS')) await this.#plan.client.whenConnected({ signal })
    // The counter stays at its maximum, and a node has that number already.
    else if (isCode(error, 'NODEEXISTS') && this.#plan.sequenceOf) throw this.#exhausted(path, error)
    else throw error
  }

  #exhausted(path: string, cause?: unknown): RecipeError {
    return new RecipeError('EXHAUSTED', parentOf(path), { cause })
  }

  /** Returns true if this node exists on the connected server. */
  async existsAtServer(options: ReadOptions = {}): Promise<boolean> {
    const { client } = this.#plan
    const { path } = this.node
    try {
      const stat = await client.exists(path, options)
      return stat !== null && this.owns(stat)
    } catch (error) {
      if (!isCode(error, 'NOAUTH')) throw error
      // The server refuses exists() without READ permission (ZOOKEEPER-2590: from 3.8.4, 3.9.2 on). But a session may
      // always list its own nodes.
      return (await client.getEphemerals(path)).includes(path)
    }
  }

  /** Resolves when the node is known to be deleted, or the session has ended. May be called again. */
  remove(): Promise<void> {
    return (this.#removing ??= this.#removeNode().finally(() => (this.#removing = undefined)))
  }

  async #removeNode(): Promise<void> {
    const { client } = this.#plan
    try {
      if (this.#uncertain !== undefined) await retryUntilDone(client, () => this.#find())
      if (this.#node !== undefined) await this.#delete(client, this.#node)
      this.#node = undefined
      this.stopWatching()
    } catch (error) {
      if (!isCode(error, 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) throw error
      // A client that is being closed refuses calls before its nodes are deleted.
      await whenEnded(client)
    }
  }

  /**
   * Deletes the node. If another node may get the same name, first checks that the node is still ours, unless its watch
   * shows that. The read follows a sync, because a server that lags behind may still have the old node.
   */
  async #delete(client: Client, { path }: Node): Promise<void> {
    await retryUntilDone(client, async () => {
      if (!this.isUnique && this.#watch?.isThere !== true) {
        const [, isThere] = await Promise.all([client.sync(path), this.existsAtServer()])
        if (!isThere) return
      }
      try {
        await (this.#plan.delete?.(path) ?? client.delete(path))
      } catch (error) {
        if (!isCode(error, 'NONODE')) throw error
      }
    })
  }

  /** Finds out whether the create without a reply has made a node. */
  async #find(): Promise<void> {
    const path = this.#uncertain
    // The reply to the create may have arrived since, because remove() may be called while create() runs.
    if (path === undefined) return
    const found = await this.#plan.client.retry(() => this.#search(path))
    if (found === undefined) this.#uncertain = undefined
    else this.#own(found)
  }

  /** Syncs before it reads, because a server that lags behind may not have the node yet. */
  async #search(path: string): Promise<Found | undefined> {
    const { client, sequenceOf, mark } = this.#plan
    const directory = parentOf(path)
    const [, { children }] = await Promise.all([
      client.sync(directory),
      sequenceOf ? listChildren(client, directory) : { children: [nameOf(path)] },
    ])
    const names = children.filter(name => name.startsWith(nameOf(path)))
    if (mark === undefined) {
      for (const name of names) {
        const found = await this.#found(join(directory, name))
        if (found !== undefined) return found
      }
      return undefined
    }
    const nodes = await readNodes(client, directory, names)
    return nodes.find(({ data, stat }) => stat.ephemeralOwner === client.sessionId && isMarked(data, mark))
  }

  /**
   * Does not read the data, because the ACL may forbid that. The name is not enough: clients whose random numbers are the
   * same draw the same uuids.
   */
  async #found(path: string): Promise<Found | undefined> {
    const { client } = this.#plan
    try {
      const stat = await client.exists(path)
      return stat?.ephemeralOwner === client.sessionId ? { path, stat } : undefined
    } catch (error) {
      // The server may refuse exists() (ZOOKEEPER-2590). Without the node's Stat there is no token, so delete the node.
      if (isCode(error, 'NOAUTH')) await client.delete(path)
      throw error
    }
  }

  #own({ path, stat }: Found): void {
    this.#uncertain = undefined
    this.#node = { path, name: nameOf(path), czxid: stat.czxid }
  }
}

const fateOf = (error: unknown) => (error instanceof ZooKeeperError ? error.fate : undefined)

/**
 * Returns true for a number that cannot be trusted. A directory's counter stays at its maximum, and numbers then repeat
 * (tried on 3.8.0). The order is then unknown, and other libraries let several contenders hold the lock at once.
 */
const isExhausted = (sequence: number | undefined): boolean =>
  sequence === undefined || sequence < 0 || sequence >= 0x7fff_ffff

/** The length of the number that the server appends to a name. */
const DIGITS = 10

/** Resolves when the session has ended. */
const whenEnded = (client: Client) =>
  new Promise<void>(resolve => {
    const onState = () => {
      if (!isTerminal(client.state)) return
      client.off('state', onState)
      resolve()
    }
    client.on('state', onState)
    onState()
  })
