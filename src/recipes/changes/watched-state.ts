// A state at the server that is watched as long as it has a listener or a loop.
import { ENDED } from '../../runtime/abort.ts'
import { Condition } from '../../runtime/condition.ts'
import type { Client } from '../../client/index.ts'
import { readRepeatedly, type Seen } from '../node/read-with-watch.ts'
import { Publisher, type Difference } from './publisher.ts'

/**
 * A state at the server, which is read with a watch: once when the first listener or loop is added, and again after each
 * event. A loop that is added later begins with a read of its own, because the last state may be older than what its
 * caller has written.
 */
export class WatchedState<S, T> extends Publisher<S, T> {
  readonly #client: Client
  readonly #read: (signal: AbortSignal) => Promise<Seen<S> | undefined>
  readonly #again = new Condition()
  /** How many listeners and loops were added. */
  #added = 0
  #run: AbortController | undefined
  /** How many reads have begun. */
  #reads = 0
  /**
   * The first state that a call has read while this object had none, and how many reads of this object had begun before.
   * If a read of this object that began later finds another state, the listeners must get the difference:
   *   this object:  read 1 sent, and lost with its connection          read 2: the new state
   *   the call:                          its read: the old state
   */
  #readByCall: { readonly state: () => S | undefined; readonly reads: number } | undefined

  /** @param read see {@link readRepeatedly} */
  constructor(
    client: Client,
    path: string,
    read: (signal: AbortSignal) => Promise<Seen<S> | undefined>,
    difference: Difference<S, T>,
  ) {
    super(path, difference)
    this.#client = client
    this.#read = read
  }

  protected override get present(): undefined {
    return undefined
  }

  protected override onFollowed(): void {
    this.#added++
    if (this.#run !== undefined) return this.#again.notify()
    const run = (this.#run = new AbortController())
    const publish = (state: S) => {
      this.publish(this.#client, state)
      return false
    }
    const read = async (signal: AbortSignal) => {
      const added = this.#added
      const { readers } = this
      const nth = ++this.#reads
      const seen = await this.#read(signal)
      const byCall = this.#readByCall
      // Only a read that began later can have missed a change after the caller's read.
      const before = this.state === undefined && byCall !== undefined && nth > byCall.reads ? byCall.state() : undefined
      if (before !== undefined) this.publish(this.#client, before, [])
      if (seen === undefined || this.#added === added) return seen
      // A loop that was added later would begin with the past, so it gets the state of the next read.
      this.publish(this.#client, seen.value, readers)
      return undefined
    }
    readRepeatedly(this.#client, read, publish, run.signal, this.#again).catch((error: unknown) => {
      if (this.#run !== run) return
      this.#stop()
      this.fail(this.#client, error)
    })
  }

  /**
   * Runs a read of a call. A caller that adds a listener and then reads gets each change after that read, also if the
   * own first read is repeated later, because the connection was lost.
   * @param read sends its request before it returns, once
   * @param stateOf returns undefined if what was read is no state
   */
  async readByCall<R>(read: () => Promise<R>, stateOf: (result: R) => S | undefined): Promise<R> {
    const reads = this.#reads
    const result = await read()
    if (this.#run !== undefined && this.state === undefined)
      this.#readByCall ??= { state: () => stateOf(result), reads }
    return result
  }

  protected override onUnfollowed(): void {
    if (!this.isFollowed) this.#stop()
  }

  #stop(): void {
    const run = this.#run
    this.#run = undefined
    this.#readByCall = undefined
    this.forget()
    run?.abort(ENDED)
  }
}
