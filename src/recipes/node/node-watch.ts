// A watch on one node, and what is known of the node by it.
import { connectionsOf, leaseLossOf, watchTogether } from '../../client/recipe-support.ts'
import { isCode, type Stat } from '../../protocol/index.ts'
import type { Abort } from '../../runtime/abort.ts'
import type { Client, WatchEvent } from '../../client/index.ts'

/**
 * What is known of a watched node. `unknown`: no reply yet. `there`: it exists, and its watch is armed. `changed`: an
 * event used up the watch, but did not say that the node was deleted. `gone`: it was deleted. `hidden`: the session may
 * not read it, and then gets no events of it either (ZOOKEEPER-2590: since 3.8.4, 3.9.2). `failed`: the read failed for
 * another reason.
 */
type Status = 'unknown' | 'there' | 'changed' | 'gone' | 'hidden' | 'failed'

/** What to watch, and for how long. */
export interface WatchTarget {
  readonly path: string
  /**
   * Removes the watch when it aborts. Several watches can share one, because a signal of its own would cost each of them
   * more than its request.
   */
  readonly signal: AbortSignal
  /** Called after each change of the watch's status. */
  readonly onChange: () => void
}

/** A one-shot watch on one node. */
export class NodeWatch {
  status: Status = 'unknown'
  /** Why the node is `hidden`, or the request `failed`. */
  error: Error | undefined
  /** True if an event has used up the watch. False if the node was `gone` before its watch could be set. */
  hasFired = false
  /** See {@link WatchTarget.onChange}. */
  onChange: () => void
  readonly #client: Client
  /** The number of connections when the request was sent. Events of one connection are in the order of transactions. */
  readonly #connects: number
  /** Is done if the session must be presumed lost, even if it is found alive later. */
  readonly #leaseLoss: Abort

  private constructor(client: Client, onChange: () => void) {
    this.#client = client
    this.#connects = connectionsOf(client)
    this.#leaseLoss = leaseLossOf(client)
    this.onChange = onChange
  }

  /**
   * Reads a node with a watch. Sends the request before it returns.
   * @param isMeant returns true for the Stat of the node that is meant, and not of a later one with its name
   */
  static read(client: Client, node: WatchTarget, isMeant: (stat: Stat) => boolean = () => true): NodeWatch {
    const { path, signal } = node
    const nodeWatch = new NodeWatch(client, node.onChange)
    const watch = ({ type }: WatchEvent) => nodeWatch.#onEvent(type, true)
    client.getData(path, { watch, signal }).then(
      ({ stat }) => nodeWatch.#onSet(isMeant(stat)),
      (error: unknown) => nodeWatch.#onError(error),
    )
    return nodeWatch
  }

  /**
   * Watches nodes that have existed since the transaction `zxid`, by one request, which reads none of them. A later node
   * with the name of one of them counts as a change of it. Sends the request before it returns.
   *
   * The session must be permitted to read the nodes. Otherwise newer servers report neither an error nor an event.
   * @returns undefined, and sends nothing, if the session has a persistent watch on one of them
   */
  static watchTogether(client: Client, nodes: readonly WatchTarget[], zxid: bigint): NodeWatch[] | undefined {
    const watches = nodes.map(({ onChange }) => new NodeWatch(client, onChange))
    const requested = nodes.map(({ path, signal }, i) => {
      const nodeWatch = watches[i] as NodeWatch
      // The event of a node that is missing arrives before the reply.
      return {
        path,
        signal,
        callback: ({ type }: WatchEvent) => nodeWatch.#onEvent(type, nodeWatch.status === 'there'),
      }
    })
    const set = watchTogether(client, requested, zxid)
    set?.then(
      () => watches.forEach(each => each.#onSet(true)),
      (error: unknown) => watches.forEach(each => each.#onError(error)),
    )
    return set && watches
  }

  /**
   * True if the reply and all events since then arrived on the present connection, and the session was never in doubt. What
   * is sent without a connection is executed after the next one has begun.
   */
  get isCurrent(): boolean {
    const isConnected = this.#client.state !== 'suspended'
    return isConnected && this.#connects === connectionsOf(this.#client) && !this.#leaseLoss.isDone
  }

  /** True if the node was there, no event has reported a change since, and both are known from the present connection. */
  get isThere(): boolean {
    return this.status === 'there' && this.isCurrent
  }

  /** True if a reply or an event is still to arrive. */
  get isPending(): boolean {
    return this.status === 'unknown' || this.status === 'there'
  }

  /** Stops the calls of `onChange`. */
  ignore(): void {
    this.onChange = () => undefined
  }

  #onEvent(type: WatchEvent['type'], hasFired: boolean): void {
    this.hasFired = hasFired
    this.#become(type === 'NodeDeleted' ? 'gone' : 'changed')
  }

  #onSet(isThere: boolean): void {
    // The event may have arrived before this callback runs.
    if (this.status === 'unknown') this.#become(isThere ? 'there' : 'gone')
  }

  #onError(error: unknown): void {
    this.error = error as Error
    this.#become(isCode(error, 'NONODE') ? 'gone' : isCode(error, 'NOAUTH') ? 'hidden' : 'failed')
  }

  #become(status: Status): void {
    this.status = status
    this.onChange()
  }
}
