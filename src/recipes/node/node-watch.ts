// A watch on one node, and what is known of the node by it.
import { isCode, type Stat } from '../../protocol/index.ts'
import type { Client, WatchEvent } from '../../client/index.ts'

/**
 * What is known of a watched node. `unknown`: no reply yet. `there`: it exists, and its watch is armed. `changed`: an
 * event used up the watch, but did not say that the node was deleted. `gone`: it was deleted. `hidden`: the session may
 * not read it, and then gets no events of it either (ZOOKEEPER-2590: since 3.8.4, 3.9.2). `failed`: the read failed for
 * another reason.
 */
type Status = 'unknown' | 'there' | 'changed' | 'gone' | 'hidden' | 'failed'

/** A one-shot watch on one node. */
export class NodeWatch {
  status: Status = 'unknown'
  /** Why the node is `hidden`, or the read `failed`. */
  error: Error | undefined
  /** True if an event has used up the watch. False if the reply says that the node is `gone`. */
  hasFired = false
  /** Called after each change of the status. */
  onChange: () => void
  readonly #client: Client
  /** The number of connections when the request was sent. Events of one connection are in the order of transactions. */
  readonly #connects: number
  /** Aborts if the session must be presumed lost, even if it is found alive later. */
  readonly #lease: AbortSignal

  /**
   * Sends the request before it returns.
   * @param signal removes the watch when it aborts. Several watches can share one, because a signal of its own would
   * cost each of them more than its request
   * @param isIt returns true for the Stat of the node that is meant, and not of a later one with its name
   */
  constructor(
    client: Client,
    path: string,
    signal: AbortSignal,
    onChange: () => void,
    isIt: (stat: Stat) => boolean = () => true,
  ) {
    this.#client = client
    this.#connects = client.stats.connects
    this.#lease = client.leaseSignal
    this.onChange = onChange
    const watch = ({ type }: WatchEvent) => {
      this.hasFired = true
      this.#become(type === 'NodeDeleted' ? 'gone' : 'changed')
    }
    client.getData(path, { watch, signal }).then(
      ({ stat }) => {
        // The event may have come before this callback runs.
        if (this.status === 'unknown') this.#become(isIt(stat) ? 'there' : 'gone')
      },
      (error: unknown) => {
        this.error = error as Error
        this.#become(isCode(error, 'NONODE') ? 'gone' : isCode(error, 'NOAUTH') ? 'hidden' : 'failed')
      },
    )
  }

  /** True if the reply and all events since then came on the present connection, and the session was never in doubt. */
  get isCurrent(): boolean {
    return this.#connects === this.#client.stats.connects && !this.#lease.aborted
  }

  /** True if the node was there, no event has reported a change since, and both are known from the present connection. */
  get isThere(): boolean {
    return this.status === 'there' && this.isCurrent
  }

  /** True if a reply or an event is still to come. */
  get isPending(): boolean {
    return this.status === 'unknown' || this.status === 'there'
  }

  /** Stops the calls of `onChange`. */
  ignore(): void {
    this.onChange = () => undefined
  }

  #become(status: Status): void {
    this.status = status
    this.onChange()
  }
}
