// The client: a session's operations, watches and state, with paths relative to a root in the server's tree.
import { onAbort, untilAborted } from '../runtime/abort.ts'
import { AsyncQueue } from '../runtime/async-queue.ts'
import { badArguments, hex64, isCode, parentOf, pathProblem, ZooKeeperError, type ACL } from '../protocol/index.ts'
import { aBoolean, aFunction, mustBe, optionsProblem, type Checks } from '../options/checks.ts'
import type { SessionStats } from '../session/diagnostics.ts'
import { isTerminal, terminalCodes, type State, type StateListener } from '../session/life/states.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import type { Session } from '../session/session.ts'
import { EventQueue, type Watcher } from '../session/watches/watcher.ts'
import { copyOfACL } from './acl.ts'
import { Chroot, ROOT } from './chroot.ts'
import type { Created } from './create.ts'
import { closedError, Operations, type View } from './operations.ts'
import type { Settings } from './options.ts'
import { Pace } from './pace.ts'
import { afterLoss, retryBy, worse, type RetryPolicy } from './retry-policy.ts'
import { createLevels, deleteRecursive, deletionProblem, ensurePath } from './recursive.ts'
import { Transaction } from './transaction.ts'
import {
  aSignal,
  aTimeout,
  checked,
  ensureChecks,
  kindProblem,
  refuse,
  signalChecks,
  type CreateOptions,
  type Data,
  type SignalOption,
} from './validation.ts'

/**
 * Options of {@link Client.addWatch}.
 * @example
 * const options: WatcherOptions = { recursive: true, signal: AbortSignal.timeout(60_000) }
 * await using watcher = await zk.addWatch('/', options)
 * watcher.recursive // => true
 */
export interface WatcherOptions extends SignalOption {
  /** Watches all nodes below the path too. Default false. */
  recursive?: boolean | undefined
  /**
   * The most events that are queued for the reader, at least 1. One more event replaces all of them by one `resync`.
   * Default 1000.
   */
  capacity?: number | undefined
}

const watcherChecks: Checks<WatcherOptions> = {
  ...signalChecks,
  recursive: aBoolean,
  capacity: mustBe('a number of at least 1', (value: unknown) => typeof value === 'number' && value >= 1),
}

/**
 * Options of {@link Client.whenConnected}.
 * @example
 * const options: WhenConnectedOptions = { readOnly: true, signal: AbortSignal.timeout(60_000) }
 * await zk.whenConnected(options)
 * zk.state // => 'connected'
 */
export interface WhenConnectedOptions extends SignalOption {
  /** Accepts a connection to a read-only server too. Default false. */
  readOnly?: boolean | undefined
}

/**
 * Options of {@link Client.close}.
 * @example
 * const options: CloseOptions = { timeout: 500 }
 * await zk.close(options)
 * zk.state // => 'closed'
 */
export interface CloseOptions {
  /**
   * How long the call may take, in milliseconds, 0 or more. There is no limit if it is greater than 2147483647.
   * Default: a third of the session timeout, at most 2 000.
   */
  timeout?: number | undefined
}

export const closeChecks: Checks<CloseOptions> = { timeout: aTimeout }

/**
 * Options of {@link Client.retry}.
 * @example
 * const options: RetryOptions = { policy: fixedPause({ pause: 100, retries: 3 }) }
 * server.dropConnections()
 * await zk.retry(() => zk.exists('/app'), options) // => null
 */
export interface RetryOptions extends SignalOption {
  /** Replaces the rule of {@link Client.retry}. Default: none, so the task is repeated until the session ends. */
  policy?: RetryPolicy | undefined
}

const retryChecks: Checks<RetryOptions> = {
  ...signalChecks,
  policy: aFunction,
}

const whenConnectedChecks: Checks<WhenConnectedOptions> = { signal: aSignal, readOnly: aBoolean }

/** The property key of {@link ClientInternals}. All copies of this package in one process share it. */
export const internals: unique symbol = Symbol.for('zkwire.client')

/** The parts of a client that recipe-support.ts uses. */
export interface ClientInternals {
  readonly session: Session
  readonly settings: Settings
  readonly root: Chroot
  readonly view: View | undefined
  /** Returns a client of the same view, whose root is that of the server's tree. */
  atServerRoot(): Client
}

/**
 * A session with ZooKeeper. Paths are relative to a root in the server's tree, such as the chroot of the connect
 * string.
 *
 * A call that fails rejects with a {@link ZooKeeperError}. Its code is one that the server sent, or one of these.
 * BADARGUMENTS, REQUESTTOOLARGE, TOOMANYPENDING: nothing was sent. CONNECTIONLOSS: the connection was lost before the
 * reply, or the session must be presumed lost; `fate` says whether the server may have executed the request.
 * REPLYTOOLARGE, PROTOCOL: the reply was not acceptable. SESSIONEXPIRED, AUTHFAILED, CLOSED: the session has ended.
 * @example
 * await zk.create('/app', 'v1')
 * const { data, stat } = await zk.getData('/app')
 * data?.toString() // => 'v1'
 * await zk.setData('/app', 'v2', { version: stat.version })
 * await zk.setData('/app', 'v3', { version: stat.version }) // throws BADVERSION
 */
export class Client extends Operations implements AsyncDisposable {
  readonly #session: Session
  readonly #settings: Settings
  /**
   * The function that is registered with the session for each listener. Several views may register the same listener,
   * and each view removes only its own.
   */
  #listeners: Map<StateListener, StateListener> | undefined
  /**
   * Makes structuredClone() and postMessage() throw: symbols cannot be cloned, and a client would silently become an
   * empty object.
   */
  protected readonly uncloneable = UNCLONEABLE

  constructor(session: Session, settings: Settings, chroot: string, view?: View) {
    super(session.requests, chroot === '' ? ROOT : new Chroot(chroot), settings.acl, view)
    this.#session = session
    this.#settings = settings
  }

  /**
   * Returns an empty {@link Transaction}. It collects operations, and sends them as one {@link multi}.
   * @example
   * const transaction = zk.transaction().create('/app', 'v1').create('/app/a')
   * const results = await transaction.commit()
   * results.length // => 2
   */
  transaction(): Transaction {
    return new Transaction((ops, options) => this.multi(ops, options))
  }

  // Watches and credentials

  /**
   * Watches a node until the watcher is closed; with `recursive`, also all nodes below it. The node need not exist. A
   * recursive watcher gets an event for each node that is created, deleted or changed. Any other watcher gets the
   * events of its own node, and NodeChildrenChanged. Needs a server from 3.6 on. Servers send no events about a node
   * that the session may not read (CVE-2024-23944: from 3.8.4, 3.9.2 on).
   * @param options.signal before the reply, aborting rejects the call with `signal.reason`; later, it ends the watcher,
   * whose next() then rejects with that reason
   * @throws ZooKeeperError UNIMPLEMENTED from servers before 3.6
   * @example
   * await using watcher = await zk.addWatch('/app', { recursive: true })
   * await other.create('/app')
   * const { value } = await watcher.next()
   * value?.type // => 'NodeCreated'
   */
  addWatch(path: string, options: WatcherOptions = {}): Promise<Watcher> {
    const problem = pathProblem(path) ?? optionsProblem(options, watcherChecks)
    if (problem !== undefined) return refuse('addWatch', path, problem)
    if (this.view?.isClosed === true) return Promise.reject(closedError('addWatch', path))
    const { recursive = false, capacity = 1000, signal } = options
    const subscription = {
      serverPath: this.root.add(path),
      mode: recursive ? ('persistentRecursive' as const) : ('persistent' as const),
      queue: new EventQueue(path, capacity),
      show: (serverPath: string) => this.root.strip(serverPath),
      view: this.view,
    }
    return this.#session.watches.add(path, subscription, signal)
  }

  /**
   * Removes this client's one-shot watches on a path, without calling their callbacks. This includes watches of calls
   * that have had no reply yet. Also removes the server's watch, unless another watch or call of the session needs it.
   * A call that is aborted rejects at once, and its watches are removed nevertheless.
   * @param kind `data`: watches of exists() and getData(). `children`: watches of getChildren(). Default `any`: both
   * @throws ZooKeeperError NOWATCHER if there is no such watch
   * @example
   * await zk.exists('/app', { watch: () => undefined })
   * await zk.removeWatches('/app')
   * await zk.checkWatches('/app') // throws NOWATCHER
   */
  async removeWatches(
    path: string,
    kind: 'data' | 'children' | 'any' = 'any',
    options: SignalOption = {},
  ): Promise<void> {
    const problem = pathProblem(path) ?? kindProblem(kind) ?? optionsProblem(options, signalChecks)
    if (problem !== undefined) return refuse('removeWatches', path, problem)
    options.signal?.throwIfAborted()
    if (this.view?.isClosed === true) throw closedError('removeWatches', path)
    const removal = this.#session.watches.remove(this.view, path, this.root.add(path), kind)
    this.#session.background.run(removal)
    return untilAborted(removal, options.signal)
  }

  /**
   * Adds credentials to the session, and resolves when a server has accepted them. On each later connection they are
   * sent before any other request, except those of SASL. After an abort they are not sent again.
   * @throws ZooKeeperError AUTHFAILED if the server rejects them, which ends the session; BADARGUMENTS if they are
   * invalid
   * @example
   * await zk.addAuth('digest', 'ann:secret')
   * const identities = await zk.whoAmI()
   * identities.some(({ authScheme }) => authScheme === 'digest') // => true
   */
  async addAuth(scheme: string, auth: Uint8Array | string, options: SignalOption = {}): Promise<void> {
    const { signal } = checked('addAuth', '', options, signalChecks)
    signal?.throwIfAborted()
    if (this.view?.isClosed === true) throw closedError('addAuth', '')
    return this.#session.addAuth({ scheme, auth }, signal)
  }

  // Subtrees

  /**
   * Creates the node and its ancestors, unless they exist. New nodes are empty. Waits while there is no connection.
   * @param options.mode mode of the new nodes. Default `persistent`
   * @param options.acl ACL of the new nodes. Default: the option `acl` of `connect`
   * @throws ZooKeeperError NOAUTH, INVALIDACL
   * @example
   * await zk.ensurePath('/app/a/b')
   * const { children } = await zk.getChildren('/app/a')
   * children // => ['b']
   */
  async ensurePath(
    path: string,
    options: { mode?: 'persistent' | 'container' | undefined; acl?: readonly ACL[] | undefined } & SignalOption = {},
  ): Promise<void> {
    const problem = pathProblem(path) ?? optionsProblem(options, ensureChecks)
    if (problem !== undefined) return refuse('ensurePath', path, problem)
    const { mode = 'persistent', signal } = options
    const acl = copyOfACL(options.acl)
    // Starts at the server's root, because the nodes of the chroot itself may be missing too.
    const root = this.#atServerRoot()
    const newPace = () => this.#newPace()
    if (this.root.add(path) !== '/')
      await ensurePath(root, this.root.add(path), { mode, acl, aclAbove: acl, signal, newPace })
  }

  /** The same view, so that its calls are rejected too when this client is closed. */
  #atServerRoot(): Client {
    return this.root.prefix === '' ? this : new Client(this.#session, this.#settings, '', this.view)
  }

  protected override async createWithParents(path: string, data: Data, options: CreateOptions): Promise<Created> {
    const { signal } = options
    const pace = this.#newPace()
    for (let parents: Promise<unknown> | undefined; ;) {
      // The server executes both in order, so a node whose parents are missing takes two round trips.
      const created = this.create(path, data, options)
      parents?.catch(() => undefined)
      try {
        return await created
      } catch (error) {
        if (!(error instanceof ZooKeeperError) || error.code !== 'NONODE' || error.fate !== 'refused') throw error
      }
      await parents
      await pace.wait(signal)
      parents = createLevels(this.#atServerRoot(), this.root.add(parentOf(path)), { mode: 'persistent', signal })
    }
  }

  #newPace(): Pace {
    return new Pace(this, this.#settings)
  }

  /**
   * Deletes the node and all nodes below it, also if its server lags behind and does not know them yet. Does nothing if
   * the node does not exist. Waits while there is no connection. Has at most 100 requests in flight.
   * @throws ZooKeeperError NOTEMPTY if other clients keep creating nodes there; NOAUTH, after the rest is deleted, if the
   * session may not read or delete a part; BADARGUMENTS, before anything is
   * deleted, for a node that servers never delete: `/` without a chroot, `/zookeeper`, and `config` and `quota` in it
   * @example
   * await zk.ensurePath('/app/a/b')
   * await zk.deleteRecursive('/app')
   * await zk.exists('/app') // => null
   */
  async deleteRecursive(path: string, options: SignalOption = {}): Promise<void> {
    const problem = pathProblem(path) ?? optionsProblem(options, signalChecks) ?? deletionProblem(this.root.add(path))
    if (problem !== undefined) return refuse('deleteRecursive', path, problem)
    await deleteRecursive(this, path, options.signal)
  }

  /**
   * Returns a view: another client on the same session, whose root is `path` below this client's root. The node need
   * not exist. Closing a view ends only its own watches and listeners.
   * @throws ZooKeeperError BADARGUMENTS if the path is invalid
   * @example
   * const app = zk.chroot('/app')
   * await app.create('/a', '', { parents: true })
   * await zk.exists('/app/a') // => await app.exists('/a')
   */
  chroot(path: string): Client {
    const problem = pathProblem(path)
    if (problem !== undefined) throw badArguments('chroot', path, problem)
    return new Client(this.#session, this.#settings, path === '/' ? this.root.prefix : this.root.add(path), {
      isClosed: false,
    })
  }

  // The session

  /**
   * The present state of the session; `closed` if this view was closed.
   * @example
   * zk.state // => 'connected'
   * await zk.close()
   * zk.state // => 'closed'
   */
  get state(): State {
    return this.view?.isClosed === true && !isTerminal(this.#session.state) ? 'closed' : this.#session.state
  }

  /**
   * Calls the listener after each change of the state with the new and the previous state. It is called in a microtask,
   * in order with replies and watch events. Registering the same function again has no effect.
   * @throws ZooKeeperError BADARGUMENTS if the event is not `state`, or the listener is not a function
   * @example
   * const next = new Promise(resolve => zk.on('state', resolve))
   * server.dropConnections()
   * await next // => 'suspended'
   */
  on(event: 'state', listener: (state: State, previous: State) => void): this {
    checkEvent('on', event, listener)
    this.#listeners ??= new Map()
    if (this.#listeners.has(listener)) return this
    const own: StateListener = (state, previous) => listener(state, previous)
    this.#listeners.set(listener, own)
    this.#session.states.on(own)
    return this
  }

  /**
   * Removes a listener that {@link on} registered.
   * @throws ZooKeeperError BADARGUMENTS as {@link on}
   * @example
   * const states: string[] = []
   * const listener = (state: string) => states.push(state)
   * zk.on('state', listener).off('state', listener)
   * await zk.close()
   * states // => []
   */
  off(event: 'state', listener: (state: State, previous: State) => void): this {
    checkEvent('off', event, listener)
    const own = this.#listeners?.get(listener)
    this.#listeners?.delete(listener)
    if (own !== undefined) this.#session.states.off(own)
    return this
  }

  /**
   * Iterates over the present state and all later ones: `for await (const state of zk.states())`. Ends with the
   * session.
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid
   * @example
   * for await (const state of zk.states()) {
   *   state // => 'connected'
   *   break
   * }
   */
  states(options: SignalOption = {}): AsyncIterator<State, undefined> & AsyncIterable<State> {
    const { signal } = checked('states', '', options, signalChecks)
    const push = (state: State) => {
      states.push(state)
      if (isTerminal(state)) states.end()
    }
    const states = new AsyncQueue<State>({ signal, onEnd: () => this.off('state', push) })
    if (states.hasEnded) return states
    this.on('state', push)
    push(this.state)
    return states
  }

  /**
   * The id of the session. With the password, it resumes the session: see the option `session` of `connect`.
   * @example
   * const session = { id: zk.sessionId, password: zk.sessionPassword }
   * await using again = await connect('localhost:2181', { session })
   * again.sessionId // => session.id
   */
  get sessionId(): bigint {
    return this.#session.id
  }

  /**
   * A copy of the password of the session. Anyone who has the id and the password can take over the session.
   * @example zk.sessionPassword.length // => 16
   */
  get sessionPassword(): Buffer {
    return this.#session.password
  }

  /**
   * The session timeout that the server chose, in milliseconds.
   * @example
   * await using zk = await connect('localhost:2181', { sessionTimeout: 1000, connectTimeout: 30_000 })
   * zk.sessionTimeout // => 4000
   */
  get sessionTimeout(): number {
    return this.#session.timeout
  }

  /**
   * Returns the rest of the session's lease, in milliseconds; 0 if the session must be presumed lost or has ended.
   * Computed at each call. While the session holds a lock, a leadership or a queue item, only answers of the leader
   * renew the lease. Then no server ends the session before the lease ends, unless a client closes the session. While it
   * holds nothing, or with the option `asksLeader: false`, the answers of any server renew the lease. Then the result
   * can be too high while that server is cut off from the leader, by about `syncLimit` ticks.
   * @example
   * zk.validFor() > 0 // => true
   * await zk.close()
   * zk.validFor() // => 0
   */
  validFor(): number {
    return this.#session.validFor()
  }

  /**
   * Aborts when the session ends, begins to close or must be presumed lost, because its lease has ended: see
   * {@link validFor}. If the lease is renewed later, this property holds a new signal.
   * After a stall of the process, a signal read before aborts within one turn of the event loop; after the machine was
   * suspended, within a second. Reading this property or calling {@link validFor} makes it abort at once.
   * @example
   * const { leaseSignal } = zk
   * await zk.close()
   * leaseSignal.aborted // => true
   */
  get leaseSignal(): AbortSignal {
    return this.#session.leaseSignal
  }

  /**
   * Resolves as soon as the session is connected to a server that accepts writes, or with `readOnly` to any server.
   * @throws ZooKeeperError SESSIONEXPIRED, AUTHFAILED or CLOSED if the session ends first; BADARGUMENTS
   * @example
   * await zk.whenConnected({ signal: AbortSignal.timeout(10_000) })
   * zk.state // => 'connected'
   */
  async whenConnected(options: WhenConnectedOptions = {}): Promise<void> {
    const { signal, readOnly = false } = checked('whenConnected', '', options, whenConnectedChecks)
    return new Promise((resolve, reject) => {
      const settle = () => {
        if (signal?.aborted) reject(signal.reason as Error)
        else if (isTerminal(this.state)) reject(new ZooKeeperError(terminalCodes[this.state], { fate: 'notSent' }))
        else if (this.state === 'connected' || (readOnly && this.state === 'connectedReadOnly')) resolve()
        else return
        this.off('state', settle)
        stopListening()
      }
      this.on('state', settle)
      const stopListening = onAbort(signal, settle)
      settle()
    })
  }

  /**
   * Runs the task, and runs it again on the next connection each time it fails with CONNECTIONLOSS. The task may
   * therefore be executed twice, and must do no harm then. Resolves to the result of the task. If the task fails again
   * and again although the connection is not lost, pauses of up to 1 s follow. The option `policy` limits the attempts,
   * and chooses the pauses.
   * @throws any other error of the task; ZooKeeperError SESSIONEXPIRED, AUTHFAILED or CLOSED if the session ends first
   * @example
   * server.faults.drop('getChildren')
   * const { children } = await zk.retry(() => zk.getChildren('/'))
   * children // => ['zookeeper']
   */
  async retry<T>(task: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
    const { signal, policy } = checked('retry', '', options, retryChecks)
    if (typeof task !== 'function') throw badArguments('retry', '', 'the task must be a function')
    signal?.throwIfAborted()
    if (policy !== undefined) return retryBy(policy, this, this.#settings, task, signal)
    let pace: Pace | undefined
    let lost: ZooKeeperError | undefined
    for (;;) {
      try {
        return await task()
      } catch (error) {
        if (!isCode(error, 'CONNECTIONLOSS')) throw afterLoss(error, lost)
        lost = worse(lost, error)
      }
      await (pace ??= this.#newPace()).wait(signal)
      try {
        await this.whenConnected({ signal, readOnly: true })
      } catch (error) {
        throw afterLoss(error, lost)
      }
    }
  }

  /**
   * Replaces the list of servers. If the client is connected to a server that is not in the new list, it reconnects
   * with the same session. If the new list has more servers, a share of all clients also reconnects, which balances the
   * load (the rule of Java's client). Requests in flight then fail with CONNECTIONLOSS. Servers are compared by name
   * and port.
   * @param servers a connect string as for `connect`, also with SRV records. Its chroot must be missing or the same as
   * this client's
   * @throws ZooKeeperError BADARGUMENTS if the connect string is invalid; SESSIONEXPIRED, AUTHFAILED or CLOSED if the
   * session has ended
   * @example
   * zk.updateServerList('localhost:2181')
   * zk.updateServerList('zk4:port') // throws BADARGUMENTS
   */
  updateServerList(servers: string): void {
    const connectString = parseConnectString(servers, 'updateServerList')
    const { chroot } = connectString
    if (chroot !== '' && chroot !== this.root.prefix)
      throw badArguments('updateServerList', '', `the chroot is ${this.root.prefix || '/'} and cannot become ${chroot}`)
    if (isTerminal(this.state)) throw new ZooKeeperError(terminalCodes[this.state], { fate: 'notSent' })
    this.#session.hosts.setServers(connectString)
  }

  /**
   * Counters since the session began. The channels `zkwire:…` of node:diagnostics_channel publish the details.
   * @example
   * await zk.exists('/app')
   * zk.stats // => { connects: 1, disconnects: 0, replies: 1, events: 0 }
   */
  get stats(): SessionStats {
    return this.#session.diagnostics.stats
  }

  /**
   * Resolves when no background work is running, such as the removal of watches at the server. Never rejects.
   * @example
   * await new Counter(zk, '/orders').increment()
   * await zk.settled()
   * const { children } = await zk.getChildren('/orders')
   * children // => []
   */
  settled(): Promise<void> {
    return this.#session.background.settled()
  }

  /**
   * Ends the session at the server, which deletes its ephemeral nodes. Requests in flight are answered first; queued
   * requests and later calls reject with CLOSED. Resolves when the server has confirmed the end, or after the timeout.
   * In the latter case the server keeps the session and its nodes until the session expires, unless it still receives
   * the request. May be called again, also with a shorter timeout. On a view (see {@link chroot}), ends only its
   * watches and listeners.
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid
   * @example
   * await zk.create('/worker', '', { mode: 'ephemeral' })
   * await zk.close({ timeout: 1000 })
   * await other.exists('/worker') // => null
   * await zk.exists('/worker') // throws CLOSED
   */
  async close(options: CloseOptions = {}): Promise<void> {
    const { timeout } = checked('close', '', options, closeChecks)
    const { view } = this
    if (view === undefined) return this.#session.close(timeout)
    const previous = this.state
    if (isTerminal(previous)) return
    view.isClosed = true
    this.#session.watches.endView(view)
    for (const [listener, own] of this.#listeners ?? []) {
      this.#session.states.off(own)
      this.#session.callbacks.later(previous => listener('closed', previous), previous)
    }
    this.#listeners?.clear()
  }

  /**
   * Leaves the session without ending it, and returns what resumes it: `connect(servers, { session })` in another process,
   * within the session timeout. Requests in flight are answered first; later calls reject with CLOSED, also those of all
   * views. The ephemeral nodes stay until the session ends. So does the node of a lock that is held or waited for: its
   * `held.signal` aborts here, and no lock of the resumed session knows it. Release locks first, or delete `held.path` there.
   * @param options the timeout is that of {@link close}
   * @throws ZooKeeperError SESSIONEXPIRED, AUTHFAILED or CLOSED if the session has ended; BADARGUMENTS
   * @example
   * await zk.create('/worker', '', { mode: 'ephemeral' })
   * const session = await zk.detach()
   * await using again = await connect('localhost:2181', { session })
   * await again.exists('/worker').then(stat => stat?.ephemeralOwner) // => session.id
   */
  async detach(options: CloseOptions = {}): Promise<{ id: bigint; password: Buffer }> {
    const { timeout } = checked('detach', '', options, closeChecks)
    const session = this.#session
    const { id, password } = session
    const { state } = this
    if (isTerminal(state) || !session.mayDetach) {
      const code = isTerminal(state) ? terminalCodes[state] : 'CLOSED'
      throw new ZooKeeperError(code, { op: 'detach', fate: 'notSent' })
    }
    await session.detach(timeout)
    return { id, password }
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Returns the text that util.inspect() and console.log() show. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: object, inspect: (...args: unknown[]) => string) {
    const { state, sessionId, sessionTimeout } = this
    const shown = { state, server: this.#session.server, sessionId: hex64(sessionId), sessionTimeout }
    return `Client ${inspect({ ...shown, chroot: this.root.prefix || '/' }, options)}`
  }

  /**
   * A method, because util.inspect() can be told to call getters, and would show credentials.
   * @internal See recipe-support.ts.
   */
  [internals](): ClientInternals {
    const { root, view } = this
    return { session: this.#session, settings: this.#settings, root, view, atServerRoot: () => this.#atServerRoot() }
  }
}

const UNCLONEABLE = Symbol('a client of zkwire')

/** Without this check, the listener of an untyped caller for `error` or `expired` would be called at every change. */
function checkEvent(op: string, event: string, listener: unknown): void {
  if (event !== 'state') throw badArguments(op, '', `there is no event '${event}'; the only event is 'state'`)
  if (typeof listener !== 'function') throw badArguments(op, '', 'the listener must be a function')
}
