// One node of a recipe: created, found again after a lost reply, watched, removed. This file: the node of one
// contender.
// May import: client/index.ts, client/recipe-support.ts, protocol, runtime.
import { isTerminal, newPace, type Pace } from '../../client/recipe-support.ts'
import { isCode, nameOf, ZooKeeperError, type Stat } from '../../protocol/index.ts'
import type { Client, ReadOptions } from '../../client/index.ts'
import { NodeWatch } from './node-watch.ts'
import { retryUntilDone } from './retry-until-done.ts'

export interface Node {
  readonly path: string
  readonly name: string
  readonly czxid: bigint
}

export interface Found {
  path: string
  stat: Stat
}

/** Creates a contender's node, and finds it again if the reply to its create was lost. */
export interface NodeFactory {
  readonly client: Client
  /** True if no node of another contender will ever have this name. */
  readonly isUnique: boolean
  /** Sends the request before it returns the promise. */
  create(): Promise<Found>
  /** Returns the node that a create without a reply has made, or undefined if there is none. Syncs before it reads. */
  find(): Promise<Found | undefined>
  /** Creates the node's missing parent. */
  ensureParent(signal: AbortSignal): Promise<void>
  /** Throws if the node, which was just created or found, cannot be used. */
  check?(node: Node): void
}

/** Deletes a node that is known to belong to this contender. */
export type DeleteNode = (client: Client, path: string) => Promise<unknown>
const deleteNode: DeleteNode = (client, path) => client.delete(path)

export class OwnNode {
  readonly #factory: NodeFactory
  readonly #sendDelete: DeleteNode
  #node: Node | undefined
  /** True if the outcome of a create is unknown: a node of ours may exist. */
  #isUncertain = false
  #removing: Promise<void> | undefined
  #watch: NodeWatch | undefined

  constructor(factory: NodeFactory, { remove = deleteNode }: { remove?: DeleteNode } = {}) {
    this.#factory = factory
    this.#sendDelete = remove
  }

  get node(): Node {
    if (this.#node === undefined) throw new Error('the node does not exist')
    return this.#node
  }

  /** True from the reply that names the node until the node is removed. {@link isThere} asks the server. */
  get isKnown(): boolean {
    return this.#node !== undefined
  }

  get isUnique(): boolean {
    return this.#factory.isUnique
  }

  /** Returns true if the Stat is that of this node, and not of a later node with the same name. */
  owns({ czxid, ephemeralOwner }: Stat): boolean {
    return czxid === this.#node?.czxid && ephemeralOwner === this.#factory.client.sessionId
  }

  /**
   * Sets a watch on this node, unless a current one will still report its deletion. Sends the request before it
   * returns.
   * @param onChange called after each change of the watch's status
   */
  watch(onChange: () => void = () => undefined): NodeWatch {
    const known = this.#watch
    if (known?.isPending === true && known.isCurrent) known.onChange = onChange
    else this.#watch = new NodeWatch(this.#factory.client, this.node.path, onChange, stat => this.owns(stat))
    // Stops the old watch only now, because otherwise the server would remove its watch.
    if (known !== this.#watch) known?.stop()
    return this.#watch as NodeWatch
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

  /** Removes the watch on this node. */
  stopWatching(): void {
    this.#watch?.stop()
    this.#watch = undefined
  }

  /**
   * Creates the node, and its parent if that is missing. Sends the request of `read` together with the create. The
   * server executes both in order, so the read includes the new node, and a free lock takes one round trip.
   */
  async create<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { client } = this.#factory
    this.#node = undefined
    let pace: Pace | undefined
    for (;;) {
      signal.throwIfAborted()
      // A create that is queued for a connection cannot be cancelled, so wait for the connection first.
      if (client.state === 'suspended') await client.whenConnected({ signal })
      this.#isUncertain = true
      const [creation, reading] = await Promise.allSettled([this.#factory.create(), read()])
      if (creation.status === 'fulfilled') this.#own(creation.value)
      else await this.#recover(creation.reason, signal)
      if (!this.isKnown) {
        await (pace ??= newPace(client)).wait(signal)
        continue
      }
      this.#factory.check?.(this.node)
      const isRead = creation.status === 'fulfilled' && reading.status === 'fulfilled'
      return isRead ? reading.value : client.retry(read, { signal })
    }
  }

  /**
   * Handles a failed create. Adopts the node if the server has created it nevertheless. Returns without a node if
   * another create may succeed.
   * @throws the error of the create if another create would fail too
   */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (fateOf(error) === 'unknown') await this.#find()
    else this.#isUncertain = false
    if (this.isKnown) return
    if (isCode(error, 'NONODE')) await this.#factory.ensureParent(signal)
    else if (isCode(error, 'CONNECTIONLOSS')) await this.#factory.client.whenConnected({ signal })
    else throw error
  }

  /** Returns true if this node exists on the connected server. */
  async isThere(options: ReadOptions = {}): Promise<boolean> {
    const { client } = this.#factory
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
    const { client } = this.#factory
    try {
      if (this.#isUncertain) await retryUntilDone(client, () => this.#find())
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
        const [, isThere] = await Promise.all([client.sync(path), this.isThere()])
        if (!isThere) return
      }
      try {
        await this.#sendDelete(client, path)
      } catch (error) {
        if (!isCode(error, 'NONODE')) throw error
      }
    })
  }

  async #find(): Promise<void> {
    const found = await this.#factory.client.retry(() => this.#factory.find())
    if (found === undefined) this.#isUncertain = false
    else this.#own(found)
  }

  #own({ path, stat }: Found): void {
    this.#isUncertain = false
    this.#node = { path, name: nameOf(path), czxid: stat.czxid }
  }
}

const fateOf = (error: unknown) => (error instanceof ZooKeeperError ? error.fate : undefined)

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
