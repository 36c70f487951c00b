// What a recipe has whose changes can be followed: listeners, and an end.
import type { SignalOption } from '../../client/index.ts'
import type { Listeners } from './listeners.ts'
import type { Iteration } from './publisher.ts'

export abstract class Followed<T> implements AsyncDisposable {
  readonly #listeners: Pick<Listeners<T>, 'on' | 'off'>

  /** @internal */
  protected constructor(listeners: Pick<Listeners<T>, 'on' | 'off'>) {
    this.#listeners = listeners
  }

  abstract changes(options?: SignalOption): Iteration<T>

  /**
   * Calls the listener with each change after this call, as {@link changes} yields them. Read the present state after
   * this call to miss none. Registering the same function again has no effect.
   *
   * The option `onUncaughtError` of the client gets the errors that the listener throws. It also gets an error that ends
   * the following, for example NOAUTH, unless that is the end of the session. The listener is then called no more.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * await using colour = new SharedValue(zk, '/colour')
   * const next = new Promise<VersionedData>(resolve => colour.on('change', resolve))
   * await colour.set('blue')
   * await next.then(({ data }) => data?.toString()) // => 'blue'
   */
  on(event: 'change', listener: (change: T) => unknown): this {
    this.#listeners.on(event, listener)
    return this
  }

  /**
   * Removes a listener that {@link on} registered. The last of them also removes a watch that only listeners and
   * loops need.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * const versions: unknown[] = []
   * const listener = ({ version }: VersionedData) => versions.push(version)
   * const colour = new SharedValue(zk, '/colour').on('change', listener).off('change', listener)
   * await colour.set('blue')
   * versions // => []
   */
  off(event: 'change', listener: (change: T) => unknown): this {
    this.#listeners.off(event, listener)
    return this
  }

  abstract close(): Promise<void>

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
