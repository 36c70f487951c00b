// One node of a recipe: created, found again after a lost reply, watched, removed. This file: the node of one contender.
// May import: client/index.ts, client/recipe-support.ts, protocol, runtime.
import { isTerminal } from '../../client/recipe-support.ts'
import { isCode, nameOf, ZooKeeperError, type Stat } from '../../protocol/index.ts'
import type { Client, ReadOptions } from '../../client/index.ts'
import { retryForever } from './retry-until-done.ts'

export interface Node {
  readonly path: string
  readonly name: string
  readonly czxid: bigint
}

export interface Found {
  path: string
  stat: Stat
}

/** Where one's node goes, and how it is known again when the answer to its create was lost. */
export interface NodeFactory {
  readonly client: Client
  /** Nobody else's node will ever have the name. */
  readonly isUnique: boolean
  /** Sends the create before it returns. */
  create(): Promise<Found>
  /** The node that a create which was not answered has made, if it has; it is asked behind a sync. */
  find(): Promise<Found | undefined>
  ensureParent(signal: AbortSignal): Promise<void>
  /** Throws where a node that is there now is of no use. */
  check?(node: Node): void
}

/** Deletes a node that is known to be one's own. */
export type DeleteNode = (client: Client, path: string) => Promise<unknown>
const plainly: DeleteNode = (client, path) => client.delete(path)

export class OwnNode {
  readonly #spot: NodeFactory
  readonly #sendDelete: DeleteNode
  #node: Node | undefined
  /** A create was sent and not answered: there may be a node that we do not know of. */
  #isUncertain = false
  #removing: Promise<void> | undefined

  /** @param node where there is one already */
  constructor(spot: NodeFactory, { node, remove = plainly }: { node?: Node; remove?: DeleteNode } = {}) {
    this.#spot = spot
    this.#node = node
    this.#sendDelete = remove
  }

  get node(): Node {
    if (this.#node === undefined) throw new Error('there is no node')
    return this.#node
  }

  get exists(): boolean {
    return this.#node !== undefined
  }

  get isUnique(): boolean {
    return this.#spot.isUnique
  }

  /** Is this our node? Another may have come to bear its name. */
  owns({ czxid, ephemeralOwner }: Stat): boolean {
    return czxid === this.#node?.czxid && ephemeralOwner === this.#spot.client.sessionId
  }

  /**
   * Makes the node, and in the same breath looks at what is around: the session's order has the look see the new node, so that a
   * free lock costs one round trip. A parent that is missing is made.
   */
  async create<Look>(look: () => Promise<Look>, signal: AbortSignal): Promise<Look> {
    const { client } = this.#spot
    this.#node = undefined
    for (;;) {
      signal.throwIfAborted()
      // A create that waits for a connection cannot be taken back by who gives up before there is one.
      if (client.state === 'suspended') await client.whenConnected({ signal })
      this.#isUncertain = true
      const [created, looked] = await Promise.allSettled([this.#spot.create(), look()])
      if (created.status === 'fulfilled') this.#own(created.value)
      else await this.#recover(created.reason, signal)
      if (!this.exists) continue
      this.#spot.check?.(this.node)
      const isSeen = created.status === 'fulfilled' && looked.status === 'fulfilled'
      return isSeen ? looked.value : client.retry(look, { signal })
    }
  }

  /**
   * A create has failed. If it has made a node all the same, that is ours; and if not, another try is worth it.
   * @throws the create's error where it is not
   */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (fateOf(error) === 'unknown') await this.#find()
    else this.#isUncertain = false
    if (this.exists) return
    if (isCode(error, 'NONODE')) await this.#spot.ensureParent(signal)
    else if (isCode(error, 'CONNECTIONLOSS')) await this.#spot.client.whenConnected({ signal })
    else throw error
  }

  /** Does the server show our node? */
  async isThere(options: ReadOptions = {}): Promise<boolean> {
    const { client } = this.#spot
    const { path } = this.node
    try {
      const stat = await client.exists(path, options)
      return stat !== null && this.owns(stat)
    } catch (error) {
      if (!isCode(error, 'NOAUTH')) throw error
      // Who may not read it is refused the look (ZOOKEEPER-2590: from 3.8.4, 3.9.2 on), but not the names of his session's nodes.
      return (await client.getEphemerals(path)).includes(path)
    }
  }

  /** Resolves when the node is known to be gone, or the session is over. May be called again. */
  remove(): Promise<void> {
    return (this.#removing ??= this.#removeNode().finally(() => (this.#removing = undefined)))
  }

  async #removeNode(): Promise<void> {
    const { client } = this.#spot
    try {
      if (this.#isUncertain) await retryForever(client, () => this.#find())
      if (this.#node !== undefined) await this.#delete(client, this.#node)
      this.#node = undefined
    } catch (error) {
      if (!isCode(error, 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) throw error
      // A client that is being closed refuses calls before its nodes are gone.
      await ended(client)
    }
  }

  /**
   * A node whose name another may come to bear is looked at before it is deleted, behind a sync, since a server that lags behind may still
   * show it.
   */
  async #delete(client: Client, { path }: Node): Promise<void> {
    await retryForever(client, async () => {
      if (!this.isUnique) {
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
    const found = await this.#spot.client.retry(() => this.#spot.find())
    if (found === undefined) this.#isUncertain = false
    else this.#own(found)
  }

  #own({ path, stat }: Found): void {
    this.#isUncertain = false
    this.#node = { path, name: nameOf(path), czxid: stat.czxid }
  }
}

const fateOf = (error: unknown) => (error instanceof ZooKeeperError ? error.fate : undefined)

/** Resolves when the session is over. */
const ended = (client: Client) =>
  new Promise<void>(resolve => {
    const look = () => {
      if (!isTerminal(client.state)) return
      client.off('state', look)
      resolve()
    }
    client.on('state', look)
    look()
  })
