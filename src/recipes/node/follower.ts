// Follows something at the server as long as it is told to a listener or a loop.
import { Condition } from '../../runtime/condition.ts'
import type { Client } from '../../client/index.ts'
import { Publisher, type Difference } from './publisher.ts'
import { follow, type Seen } from './read-with-watch.ts'

/**
 * A state at the server, which is read with a watch: once when the first listener or loop comes, and again after each
 * event. A loop that comes later begins with a read of its own, because the last state may be older than what its
 * caller has written.
 */
export class Follower<S, T> extends Publisher<S, T> {
  readonly #client: Client
  readonly #read: (signal: AbortSignal) => Promise<Seen<S> | undefined>
  readonly #again = new Condition()
  #run: AbortController | undefined

  /** @param read see {@link follow} */
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

  protected override onHeard(): void {
    if (this.#run !== undefined) return this.#again.notify()
    const run = (this.#run = new AbortController())
    const publish = (state: S) => {
      this.publish(this.#client, state)
      return false
    }
    follow(this.#client, this.#read, publish, run.signal, this.#again).catch((error: unknown) => {
      if (this.#run !== run) return
      this.#stop()
      this.fail(this.#client, error)
    })
  }

  protected override onLeft(): void {
    if (this.isUnheard) this.#stop()
  }

  #stop(): void {
    const run = this.#run
    this.#run = undefined
    this.forget()
    run?.abort(UNHEARD)
  }
}

/** No caller sees this reason. */
const UNHEARD = new Error('nobody follows any more')
