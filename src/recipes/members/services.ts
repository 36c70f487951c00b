// Service discovery, with the nodes of Curator's ServiceDiscovery.
import { checked, clockOf, copyOfACL, newUuid } from '../../client/recipe-support.ts'
import { badArguments, isCode, join, pathProblem, ZooKeeperError, type ACL } from '../../protocol/index.ts'
import { optionsProblem } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { cancellable, waitingRead, waitOptionChecks, type WaitOptions } from '../call/cancellable.ts'
import { closedError } from '../call/closed-error.ts'
import { checkedResult, messageOf, validated, type Schema } from '../call/codec.ts'
import { listChildren, readNodes } from '../node/children.ts'
import { PersistentEphemeral } from './persistent-ephemeral.ts'
import { decodeInstance, encodeInstance, parseUriSpec, type ServiceInstance } from './service-instance.ts'
import { startAll, type Startable } from './session-work.ts'
import {
  instanceChecks,
  servicesChecks,
  type NewInstance,
  type Registration,
  type ServicesOptions,
} from './registration.ts'
import { providerChecks, ServiceProvider, warn, type ServiceProviderOptions } from './service-provider.ts'

/**
 * Registers instances of services, and finds those of all processes. The nodes and their JSON are those of Curator's
 * ServiceDiscovery with its JsonInstanceSerializer, which Spring Cloud uses with the path `/services`.
 * @example
 * await using services = new Services('/services')
 * await services.start(zk)
 * await services.register({ name: 'api', address: '10.0.0.1', port: 8080 })
 * await services.names() // => ['api']
 */
export class Services<T = unknown, In = T> implements AsyncDisposable {
  /** The node that holds all services. */
  readonly path: string
  readonly #acl: readonly ACL[] | undefined
  readonly #payload: Schema | undefined
  #client: Client | undefined
  #isClosed = false
  /** The nodes of all instances, also of those whose register() is under way. */
  readonly #nodes = new Map<string, PersistentEphemeral>()
  /** The nodes that are being removed, or whose removal was refused. */
  readonly #closing = new Set<PersistentEphemeral>()
  /** What goes on in each new session. */
  readonly #works = new Set<Startable>()
  readonly #providers = new Set<Pick<ServiceProvider, 'close'>>()

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(path: string, options: ServicesOptions<T, In> = {}) {
    const problem = pathProblem(path) ?? optionsProblem(options, servicesChecks)
    if (problem !== undefined) throw badArguments('Services', path, problem)
    this.path = path
    this.#acl = copyOfACL(options.acl)
    this.#payload = options.payload
  }

  /**
   * Uses the session of this client from now on. Registered instances and providers go on in it: call it again with the
   * client of each new session, for example in the function of `supervise`. Resolves when all nodes exist and all
   * providers are loaded, except those that are closed meanwhile. If the call fails, they are not in the new session, and
   * wait for the next call.
   * @throws ZooKeeperError NOAUTH, CLOSED after {@link close}; the error of the session if that ends first; RecipeError
   * TIMEOUT; the signal's reason
   * @example
   * await using services = new Services('/services')
   * await services.start(zk, { timeout: 10_000 })
   * await services.names() // => []
   */
  start(client: Client, options: WaitOptions = {}): Promise<void> {
    const works = () => {
      if (this.#isClosed) throw closedError('start', this.path)
      this.#client = client
      return Array.from(this.#works, work => this.#unlessClosed(work))
    }
    return startAll(client, this.path, options, works)
  }

  /** Returns a work whose start does not fail if the work alone is closed meanwhile. */
  #unlessClosed(work: Startable): Startable {
    const begin = (client: Client) => {
      const start = work.begin(client)
      const ready = (signal: AbortSignal) =>
        start.ready(signal).catch((error: unknown) => {
          if (this.#isClosed || this.#works.has(work)) throw error
        })
      return { ready, undo: () => start.undo() }
    }
    return { begin }
  }

  /**
   * Registers an instance. Resolves when its node exists. The node comes back if it is deleted, and in each new
   * session, until the registration is closed.
   * @param instance `id` is a random UUID by default, `registrationTimeUTC` the present time, and `serviceType` DYNAMIC
   * @throws ZooKeeperError BADARGUMENTS, also before the first {@link start}; otherwise as start() of
   * PersistentEphemeral. Nothing is registered then
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * const { path } = await services.register({ name: 'api', id: 'a', address: '10.0.0.1', port: 8080 })
   * path // => '/services/api/a'
   */
  async register<P extends In = In>(instance: NewInstance<P>, options: WaitOptions = {}): Promise<Registration<P>> {
    const client = this.#session('register')
    let present = this.#complete('register', client, instance)
    /** With all updates, also those that are under way. */
    let wanted = present
    const path = join(join(this.path, present.name), present.id)
    checked('register', path, options, waitOptionChecks).signal?.throwIfAborted()
    if (this.#nodes.has(path)) throw badArguments('register', path, 'this instance is registered already')
    const mode = modes[present.serviceType]
    const node = new PersistentEphemeral(path, { mode, data: encodeInstance(present), acl: this.#acl })
    this.#nodes.set(path, node)
    const close = async () => {
      this.#works.delete(node)
      if (this.#nodes.get(path) === node) this.#nodes.delete(path)
      this.#closing.add(node)
      await node.close()
      this.#closing.delete(node)
    }
    await this.#add('register', path, node, options, close)
    return {
      get instance() {
        return present
      },
      get path() {
        return node.path
      },
      update: async (changes, waitOptions = {}) => {
        const { name, id, serviceType } = present
        const changed = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
        const next = this.#complete<P>('update', client, { ...wanted, ...changed, name, id, serviceType })
        const written = checked('update', path, waitOptions, waitOptionChecks)
        wanted = next
        await node.setData(encodeInstance(next), written)
        present = next
      },
      close,
      [Symbol.asyncDispose]: close,
    }
  }

  /**
   * Starts a work in the present session, and adds it to those that go on in each new one.
   * @param close ends the work, in the background, if the call fails
   */
  async #add(
    op: string,
    path: string,
    work: Startable,
    options: WaitOptions,
    close: () => Promise<void>,
  ): Promise<void> {
    const call = { op, path, options }
    const client = this.#session(op)
    const start = async (signal: AbortSignal) => {
      // If a new session starts meanwhile, the work begins again there.
      for (let present: Client | undefined; present !== this.#client;) {
        present = this.#session(op)
        await work.begin(present).ready(signal)
      }
      this.#works.add(work)
    }
    await cancellable(client, call, start, close)
  }

  /**
   * Reads the names of all services, also of those that have no instance any more. Waits through lost connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED; CLOSED after
   * {@link close}; BADARGUMENTS before {@link start}
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * await services.register({ name: 'api', port: 8080 })
   * await services.names() // => ['api']
   */
  async names(options: WaitOptions = {}): Promise<string[]> {
    const client = this.#session('names')
    const read = (signal: AbortSignal) => listChildren(client, this.path, { signal })
    return [...(await waitingRead(client, { op: 'names', path: this.path, options }, read)).children]
  }

  /**
   * Reads the present instances of a service. A node whose data is no instance, or has an invalid payload, is left out,
   * with a process warning.
   * Throws as {@link names}.
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * await services.register({ name: 'api', port: 8080 })
   * await services.instances('api').then(all => all.map(({ port }) => port)) // => [8080]
   */
  async instances<P extends T = T>(name: string, options: WaitOptions = {}): Promise<ServiceInstance<P>[]> {
    const client = this.#session('instances')
    const path = this.#pathOf('instances', name)
    const nodes = await waitingRead(client, { op: 'instances', path, options }, async signal => {
      const { children } = await listChildren(client, path, { signal })
      return readNodes(client, path, children, { signal })
    })
    return nodes.flatMap(({ path, data }) => {
      try {
        return [this.#decode<P>(data)]
      } catch (error) {
        if (isCode(error, 'BADARGUMENTS')) throw error
        warn(path, error as Error)
        return []
      }
    })
  }

  /**
   * Follows the instances of a service, and chooses one for each call. Resolves when they are loaded. The provider goes
   * on in each new session, until it or this object is closed.
   * @throws ZooKeeperError BADARGUMENTS, also before the first {@link start}; NOAUTH; the error of the session if that
   * ends first; RecipeError TIMEOUT; the signal's reason
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * await services.register({ name: 'api', port: 8080 })
   * const provider = await services.provider('api', { strategy: 'sticky' })
   * provider.choose()?.port // => 8080
   */
  async provider<P extends T = T>(name: string, options: ServiceProviderOptions<P> = {}): Promise<ServiceProvider<P>> {
    const client = this.#session('provider')
    const path = this.#pathOf('provider', name)
    const problem = optionsProblem(options, providerChecks)
    if (problem !== undefined) throw badArguments('provider', path, problem)
    const { signal, timeout } = options
    signal?.throwIfAborted()
    const decode = (data: Buffer | null) => this.#decode<P>(data)
    const provider = new ServiceProvider<P>(client, path, options, decode, () => {
      this.#works.delete(provider)
      this.#providers.delete(provider)
    })
    this.#providers.add(provider)
    await this.#add('provider', path, provider, { signal, timeout }, () => provider.close())
    return provider
  }

  /**
   * Closes all registrations, also of STATIC and PERMANENT instances, and all providers. Later calls reject with CLOSED.
   * May be called again.
   * @throws ZooKeeperError NOAUTH if the server refuses to delete a node
   * @example
   * const services = new Services('/services')
   * await services.start(zk)
   * const { path } = await services.register({ name: 'api', port: 8080 })
   * await services.close()
   * await zk.exists(path) // => null
   */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const node of this.#nodes.values()) this.#closing.add(node)
    const all = [...this.#closing, ...this.#providers]
    const outcomes = await Promise.allSettled(all.map(each => each.close()))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #session(op: string): Client {
    if (this.#isClosed) throw closedError(op, this.path)
    if (this.#client === undefined) throw badArguments(op, this.path, 'call start(client) first')
    return this.#client
  }

  #pathOf(op: string, name: unknown): string {
    const problem = nameProblem('name', name)
    if (problem !== undefined) throw badArguments(op, this.path, problem)
    return join(this.path, name as string)
  }

  /** Fills in the defaults. */
  #complete<P>(op: string, client: Client, given: NewInstance<P>): ServiceInstance<P> {
    const problem = optionsProblem(given, instanceChecks)
    if (problem !== undefined) throw badArguments(op, this.path, problem)
    const { name, id = newUuid(client), address = null, port = null, sslPort = null, payload = null } = given
    const {
      registrationTimeUTC = Math.round(clockOf(client).wallNow()),
      serviceType = 'DYNAMIC',
      enabled = true,
    } = given
    const { uriSpec = null } = given
    const wrong = nameProblem('name', name) ?? nameProblem('id', id)
    if (wrong !== undefined) throw badArguments(op, this.path, wrong)
    const parts = typeof uriSpec === 'string' ? parseUriSpec(uriSpec) : uriSpec
    if (parts === undefined) throw badArguments(op, this.path, `the uriSpec has a brace without its counterpart`)

    const rest = { registrationTimeUTC, serviceType, uriSpec: parts, enabled }
    const json = Buffer.from(encodeInstance({ name, id, address, port, sslPort, payload, ...rest }))
    try {
      // A later update() writes the payload again, after the caller may have changed its objects.
      const complete = decodeInstance<P>(json)
      this.#validated(complete)
      return complete
    } catch (error) {
      if (isCode(error, 'BADARGUMENTS')) throw error
      const context = { op, path: this.path, fate: 'notSent', detail: messageOf(error) } as const
      throw new ZooKeeperError('BADARGUMENTS', { ...context, cause: error })
    }
  }

  /** @throws Error if the data is no instance, or its payload is invalid; ZooKeeperError BADARGUMENTS */
  #decode<P>(data: Buffer | null): ServiceInstance<P> {
    return this.#validated(decodeInstance<P>(data))
  }

  /** Returns the instance with what the validator makes of its payload. Throws as {@link #decode}. */
  #validated<P>(instance: ServiceInstance<P>): ServiceInstance<P> {
    if (this.#payload === undefined || instance.payload === null) return instance
    try {
      const payload = checkedResult(
        'Services',
        'payload.validate',
        this.path,
        validated(this.#payload, instance.payload),
      )
      return { ...instance, payload: payload as P }
    } catch (error) {
      if (isCode(error, 'BADARGUMENTS')) throw error
      throw new Error(`payload: ${messageOf(error)}`, { cause: error })
    }
  }
}

const modes = {
  DYNAMIC: 'ephemeral',
  DYNAMIC_SEQUENTIAL: 'ephemeralSequential',
  STATIC: 'persistent',
  PERMANENT: 'persistent',
} as const

/** Returns why a name or an id cannot be the name of a node. */
function nameProblem(what: string, name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '' || name.includes('/')) return `the ${what} must be a name without '/'`
  return pathProblem(join('/', name))
}
