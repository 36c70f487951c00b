// Chooses one of the instances of a service for each call.
import { aFunction, callLater, clockOf, randomOf } from '../../client/recipe-support.ts'
import { printable } from '../../protocol/index.ts'
import { aPositiveInteger, mustBe, type Checks } from '../../options/checks.ts'
import type { Client, SignalOption } from '../../client/index.ts'
import type { CacheNode } from '../cache/changes.ts'
import { waitOptionChecks, type WaitOptions } from '../call/cancellable.ts'
import { Followed } from '../changes/followed.ts'
import type { Iteration } from '../changes/publisher.ts'
import { ChildrenView } from './children-view.ts'
import type { ServiceInstance } from './service-instance.ts'
import type { Start } from './session-work.ts'

/**
 * `roundRobin`: each in turn. `random`: any. `sticky`: a random one, and the same again until it is gone or down. A
 * function receives the instances that can be chosen, at least one.
 * @example
 * const lowestPort: ChoiceStrategy = all => all.reduce((a, b) => ((a.port ?? 0) < (b.port ?? 0) ? a : b))
 * await using services = new Services('/services')
 * await services.start(zk)
 * for (const port of [8082, 8081]) await services.register({ name: 'api', port })
 * const provider = await services.provider('api', { strategy: lowestPort })
 * provider.choose()?.port // => 8081
 */
export type ChoiceStrategy<P = unknown> =
  'roundRobin' | 'random' | 'sticky' | ((instances: readonly ServiceInstance<P>[]) => ServiceInstance<P>)

/**
 * Options of a provider. `signal` and `timeout` are those of the call that makes it.
 * @example
 * const options: ServiceProviderOptions = { strategy: 'random', errorThreshold: 1, downTime: 10_000 }
 * await using services = new Services('/services')
 * await services.start(zk)
 * const provider = await services.provider('api', options)
 * provider.instances // => []
 */
export interface ServiceProviderOptions<P = unknown> extends WaitOptions {
  /** How `choose()` chooses. Default `roundRobin`. */
  strategy?: ChoiceStrategy<P> | undefined
  /** After this many errors an instance is down: an integer of 1 or more. Default 2, as in Curator. */
  errorThreshold?: number | undefined
  /** How long the errors of an instance count, from the first one on: milliseconds, 0 or more. Default 30 000. */
  downTime?: number | undefined
  /**
   * Receives the path of a node whose data is no instance, or whose payload is invalid, once for each version of the data. Such a node is left out.
   * Default: a process warning.
   */
  onInvalidInstance?: ((path: string, error: Error) => void) | undefined
}

export const providerChecks: Checks<ServiceProviderOptions<never>> = {
  ...waitOptionChecks,
  strategy: mustBe(
    'roundRobin, random, sticky or a function',
    value => typeof value === 'function' || ['roundRobin', 'random', 'sticky'].includes(value),
  ),
  errorThreshold: aPositiveInteger,
  downTime: mustBe('a number of milliseconds, 0 or more', value => typeof value === 'number' && value >= 0),
  onInvalidInstance: aFunction,
}

interface Errors {
  /** The time of the first. */
  readonly firstAt: number
  count: number
}

/**
 * The present instances of one service. `services.provider()` makes it.
 * @example
 * await using services = new Services('/services')
 * await services.start(zk)
 * await services.register({ name: 'api', address: '10.0.0.1', port: 8080 })
 * const provider: ServiceProvider = await services.provider('api')
 * provider.choose()?.address // => '10.0.0.1'
 */
export class ServiceProvider<P = unknown> extends Followed<ServiceInstance<P>[]> {
  /** The node of the service, below that of all services. */
  readonly path: string
  readonly #options: ServiceProviderOptions<P>
  readonly #view: ChildrenView<ServiceInstance<P>[]>
  readonly #decoded = new WeakMap<CacheNode, ServiceInstance<P> | null>()
  /** The errors of each instance, by its id. */
  readonly #errors = new Map<string, Errors>()
  readonly #decodeData: (data: Buffer | null) => ServiceInstance<P>
  #client: Client
  #turn = 0
  #sticky: string | undefined
  #onClose: () => void

  /**
   * @internal
   * @param decode throws if the data is no instance
   */
  constructor(
    client: Client,
    path: string,
    options: ServiceProviderOptions<P>,
    decode: (data: Buffer | null) => ServiceInstance<P>,
    onClose: () => void,
  ) {
    const view = new ChildrenView<ServiceInstance<P>[]>(path, (before, after) =>
      before === after ? undefined : this.#instancesIn(after.values()),
    )
    super(view.changes)
    this.path = path
    this.#view = view
    this.#client = client
    this.#options = { ...options }
    this.#decodeData = decode
    this.#onClose = onClose
  }

  /** All instances, also those that are down or not enabled. The list is kept up to date while the session lasts. */
  get instances(): ServiceInstance<P>[] {
    return this.#instancesIn(this.#view.children.values())
  }

  #instancesIn(nodes: Iterable<CacheNode>): ServiceInstance<P>[] {
    return Array.from(nodes).flatMap(node => this.#decode(node) ?? [])
  }

  /**
   * Returns an instance for one call; undefined if no instance is enabled and not down. Choose again for the next call,
   * because another instance may be registered or gone by then.
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * for (const port of [8080, 8081]) await services.register({ name: 'api', port })
   * const provider = await services.provider('api')
   * provider.choose()?.port === provider.choose()?.port // => false
   */
  choose(): ServiceInstance<P> | undefined {
    const able = this.instances.filter(({ id, enabled }) => enabled && !this.isDown(id))
    const { strategy = 'roundRobin' } = this.#options
    if (able.length === 0) return undefined
    if (typeof strategy === 'function') return strategy(able)
    if (strategy === 'roundRobin') return able[this.#turn++ % able.length]
    const same = strategy === 'sticky' ? able.find(({ id }) => id === this.#sticky) : undefined
    const chosen = same ?? able[Math.floor(randomOf(this.#client)() * able.length)]
    this.#sticky = chosen?.id
    return chosen
  }

  /**
   * Counts an error of the instance. It is down from the `errorThreshold`-th on, until `downTime` after the first.
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * const { instance } = await services.register({ name: 'api', port: 8080 })
   * const provider = await services.provider('api', { errorThreshold: 1 })
   * provider.noteError(instance)
   * provider.choose() // => undefined
   */
  noteError({ id }: Pick<ServiceInstance, 'id'>): void {
    const now = clockOf(this.#client).now()
    const errors = this.#errorsOf(id) ?? { firstAt: now, count: 0 }
    errors.count++
    this.#errors.set(id, errors)
  }

  /**
   * Returns true if {@link noteError} was called for the instance `errorThreshold` times within `downTime`, so that it is
   * not chosen.
   * @param id the id of an instance
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * const { instance } = await services.register({ name: 'api', port: 8080 })
   * const provider = await services.provider('api')
   * provider.isDown(instance.id) // => false
   */
  isDown(id: string): boolean {
    return (this.#errorsOf(id)?.count ?? 0) >= (this.#options.errorThreshold ?? 2)
  }

  /** Returns the errors that count still. Forgets all others, also those of instances that are gone. */
  #errorsOf(id: string): Errors | undefined {
    const forgottenAt = clockOf(this.#client).now() - (this.#options.downTime ?? 30_000)
    for (const [each, { firstAt }] of this.#errors) if (firstAt <= forgottenAt) this.#errors.delete(each)
    return this.#errors.get(id)
  }

  /**
   * Yields the present instances, and then the latest ones after each change. Goes on in the next session.
   * @throws ZooKeeperError BADARGUMENTS; when iterating: the signal's reason
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * const provider = await services.provider('api')
   * for await (const instances of provider.changes()) {
   *   instances // => []
   *   break
   * }
   */
  override changes(options: SignalOption = {}): Iteration<ServiceInstance<P>[]> {
    return this.#view.changes.iterate(options)
  }

  /**
   * Ends the watch, and the loops over {@link changes}, also later ones. The instances stay as they were. May be called
   * again. Never rejects.
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * const provider = await services.provider('api')
   * await provider.close()
   * await provider.changes().next() // => { value: undefined, done: true }
   */
  override close(): Promise<void> {
    this.#onClose()
    return this.#view.close()
  }

  /** @internal Follows the service in this session. */
  begin(client: Client): Start {
    const start = this.#view.begin(client)
    this.#client = client
    return start
  }

  #decode(node: CacheNode): ServiceInstance<P> | null {
    let instance = this.#decoded.get(node)
    if (instance !== undefined) return instance
    try {
      instance = this.#decodeData(node.data ?? null)
    } catch (error) {
      instance = null
      const { onInvalidInstance = warn } = this.#options
      callLater(this.#client, () => onInvalidInstance(node.path, error as Error))
    }
    this.#decoded.set(node, instance)
    return instance
  }
}

export const warn = (path: string, error: Error): void =>
  process.emitWarning(printable(`${path} is left out, because it is no instance of a service: ${error.message}`), {
    code: 'ZKWIRE_INVALID_INSTANCE',
  })
