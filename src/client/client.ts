// The client: the nodes, watches and life of a session, seen from a root in the server's tree.
import { onAbort } from '../runtime/abort.ts'
import { badArguments, hex64, isCode, parentOf, pathProblem, ZooKeeperError, type ACL } from '../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../protocol/option-checks.ts'
import type { SessionStats } from '../session/diagnostics.ts'
import { isTerminal, terminalCodes, type State, type StateListener } from '../session/life/states.ts'
import type { Call } from '../session/requests/request.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import type { Session } from '../session/session.ts'
import { EventQueue, type Watcher } from '../session/watches/watcher.ts'
import { Chroot, ROOT } from './chroot.ts'
import { Operations } from './operations.ts'
import type { Settings } from './options.ts'
import { deleteRecursive, ensurePath } from './recursive.ts'
import { StateIterator } from './state-iterator.ts'
import { Transaction } from './transaction.ts'
import {
  aBoolean,
  aSignal,
  checked,
  ensureChecks,
  kindProblem,
  refuse,
  signalChecks,
  type SignalOption,
} from './validation.ts'

export interface WatcherOptions extends SignalOption {
  /** Watches all nodes below the path too. Default false. */
  recursive?: boolean
  /** How many events may be queued for the reader before one `resync` takes their place. Default 1000 */
  capacity?: number
}

const watcherChecks: Checks<WatcherOptions> = {
  ...signalChecks,
  recursive: aBoolean,
  capacity: mustBe('a number of at least 1', (value: unknown) => typeof value === 'number' && value >= 1),
}

export interface WhenConnectedOptions extends SignalOption {
  /** Accepts a connection to a read-only server too. Default false. */
  readOnly?: boolean
}

const whenConnectedChecks: Checks<WhenConnectedOptions> = { signal: aSignal, readOnly: aBoolean }

/** A key that all copies of this package in one process share. */
export const internals: unique symbol = Symbol.for('zkwire.client')

/** What recipe-support.ts gives to recipes. */
export interface ClientInternals {
  readonly session: Session
  readonly settings: Settings
  readonly root: Chroot
}

/**
 * A session with ZooKeeper, seen from a root in its tree. Every call rejects with a {@link ZooKeeperError}: the server's own
 * codes; BADARGUMENTS and REQUESTTOOLARGE if nothing was sent; CONNECTIONLOSS if the reply was lost (`fate` says whether
 * the server may have done it); SESSIONEXPIRED, AUTHFAILED and CLOSED after the end of the session.
 */
export class Client extends Operations implements AsyncDisposable {
  readonly #session: Session
  readonly #settings: Settings
  readonly #isView: boolean
  /** Several views of one session may register the same function, and each removes its own. */
  #listeners: Map<StateListener, StateListener> | undefined
  #isClosed = false
  /**
   * Makes structuredClone() and postMessage() throw: symbols cannot be cloned, and a client would silently become an empty
   * object.
   */
  protected readonly uncloneable = UNCLONEABLE

  constructor(session: Session, settings: Settings, chroot: string, isView = false) {
    super(chroot === '' ? ROOT : new Chroot(chroot))
    this.#session = session
    this.#settings = settings
    this.#isView = isView
  }

  transaction(): Transaction {
    return new Transaction((ops, options) => this.multi(ops, options))
  }

  // Watches and credentials

  /**
   * Watches a node, and with `recursive` all nodes below it, until the watcher is closed. The node need not exist. Servers
   * from 3.6 on. A recursive watcher gets an event for each node that is created, deleted or changed. Any other watcher
   * gets the events of its own node, and NodeChildrenChanged.
   * @throws UNIMPLEMENTED from servers before 3.6, NOAUTH; the reason of `signal`, which closes the watcher later on
   */
  addWatch(path: string, options: WatcherOptions = {}): Promise<Watcher> {
    const problem = pathProblem(path) ?? optionsProblem(options, watcherChecks)
    if (problem !== undefined) return refuse('addWatch', path, problem)
    if (this.#isClosed) return Promise.reject(closed('addWatch', path))
    const { recursive = false, capacity = 1000, signal } = options
    const subscription = {
      serverPath: this.root.add(path),
      mode: recursive ? ('persistentRecursive' as const) : ('persistent' as const),
      queue: new EventQueue(path, capacity),
      show: (serverPath: string) => this.root.strip(serverPath),
      owner: this.owner,
    }
    return this.#session.watches.add(path, subscription, signal)
  }

  /**
   * Removes this client's one-shot watches on a path, here and at the server. Their callbacks are not called.
   * @throws NOWATCHER if there is none
   */
  removeWatches(path: string, kind: 'data' | 'children' | 'any' = 'any'): Promise<void> {
    const problem = pathProblem(path) ?? kindProblem(kind)
    if (problem !== undefined) return refuse('removeWatches', path, problem)
    if (this.#isClosed) return Promise.reject(closed('removeWatches', path))
    return this.#session.watches.remove(this.owner, path, this.root.add(path), kind)
  }

  /**
   * Adds credentials to the session; they are also sent first on each later connection. Resolves when a server has accepted
   * them.
   * @throws AUTHFAILED, which ends the session
   */
  addAuth(scheme: string, auth: Uint8Array | string): Promise<void> {
    if (this.#isClosed) return Promise.reject(closed('addAuth', ''))
    return this.#session.addAuth({ scheme, auth })
  }

  // Whole branches

  /**
   * Creates the node and its ancestors, unless they exist. New nodes are empty. Waits through lost connections.
   * @throws NOAUTH, INVALIDACL; the reason of `signal`
   */
  async ensurePath(
    path: string,
    options: { mode?: 'persistent' | 'container'; acl?: readonly ACL[] } & SignalOption = {},
  ): Promise<void> {
    const problem = pathProblem(path) ?? optionsProblem(options, ensureChecks)
    if (problem !== undefined) return refuse('ensurePath', path, problem)
    const { mode = 'persistent', acl, signal } = options
    // From the server's root, because the nodes of the chroot itself may be missing too.
    const root = this.root.prefix === '' ? this : new Client(this.#session, this.#settings, '', true)
    if (this.root.add(path) !== '/') await ensurePath(root, this.root.add(path), { mode, acl, signal })
  }

  protected override async ensureParent(path: string, signal: AbortSignal | undefined): Promise<void> {
    await this.ensurePath(parentOf(path), { signal })
  }

  /**
   * Deletes the node and all nodes below it, and waits through lost connections. A node that does not exist is no error.
   * @throws NOTEMPTY if other clients go on creating nodes there; NOAUTH; the reason of `signal`: the server may still
   * delete what was sent before
   */
  async deleteRecursive(path: string, options: SignalOption = {}): Promise<void> {
    const problem = pathProblem(path) ?? optionsProblem(options, signalChecks)
    if (problem !== undefined) return refuse('deleteRecursive', path, problem)
    await deleteRecursive(this, path, options.signal)
  }

  /** Returns a view from another root on the same session. Closing it ends only its own watches. */
  chroot(path: string): Client {
    const problem = pathProblem(path)
    if (problem !== undefined) throw badArguments('chroot', path, problem)
    return new Client(this.#session, this.#settings, path === '/' ? this.root.prefix : this.root.add(path), true)
  }

  // The session

  get state(): State {
    return this.#isClosed && !isTerminal(this.#session.state) ? 'closed' : this.#session.state
  }

  /**
   * Calls back at each change of the state, from a microtask at its place in the order of the wire. A function that is
   * registered twice is called once.
   * @throws ZooKeeperError BADARGUMENTS for another event, since there is none
   */
  on(event: 'state', listener: StateListener): this {
    checkEvent('on', event, listener)
    this.#listeners ??= new Map()
    if (this.#listeners.has(listener)) return this
    const own: StateListener = (state, previous) => listener(state, previous)
    this.#listeners.set(listener, own)
    this.#session.states.on(own)
    return this
  }

  /** As {@link on}, for the next change only. */
  once(event: 'state', listener: StateListener): this {
    checkEvent('once', event, listener)
    const once: StateListener = (state, previous) => {
      this.off('state', once)
      return listener(state, previous)
    }
    return this.on('state', once)
  }

  /** @throws ZooKeeperError BADARGUMENTS for another event */
  off(event: 'state', listener: StateListener): this {
    checkEvent('off', event, listener)
    const own = this.#listeners?.get(listener)
    this.#listeners?.delete(listener)
    if (own !== undefined) this.#session.states.off(own)
    return this
  }

  /** Iterates over the present state and each state that follows, until the session is over: `for await (const state of zk.states())`. */
  states(options: SignalOption = {}): AsyncIterableIterator<State, undefined> {
    return new StateIterator(this, checked('states', '', options, signalChecks).signal)
  }

  get sessionId(): bigint {
    return this.#session.id
  }

  /** A copy. Anyone with the password and the id can take the session over. */
  get sessionPassword(): Buffer {
    return this.#session.password
  }

  /** The session timeout that the server gave, ms. */
  get sessionTimeout(): number {
    return this.#session.timeout
  }

  /**
   * Returns for how many milliseconds the session is surely alive; 0 if it must be presumed lost. Computed at the call.
   * A follower that is cut off from its leader confirms sessions that the leader has expired, for up to syncLimit ticks.
   * Only a transaction that checks a node of the session (`held.guard()`) is proof against that.
   */
  validFor(): number {
    return this.#session.validFor()
  }

  /**
   * Aborts when the session must be presumed lost: no server has confirmed it for the session timeout, or it is over. A
   * session that comes back has a new signal here. After a stall of the process the signal aborts within one turn of the
   * event loop; {@link validFor} knows at once.
   */
  get leaseSignal(): AbortSignal {
    return this.#session.leaseSignal
  }

  /**
   * Resolves when there is a connection to a server that takes writes, or with `readOnly` to any server: at once, or after
   * the next reconnect.
   * @throws SESSIONEXPIRED, AUTHFAILED, CLOSED; the reason of `signal`
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
   * Runs a task, and runs it again on the next connection each time it fails with CONNECTIONLOSS. So the task must do no
   * harm if it is done twice.
   */
  async retry<T>(task: () => Promise<T>, options: SignalOption = {}): Promise<T> {
    const { signal } = checked('retry', '', options, signalChecks)
    if (typeof task !== 'function') throw badArguments('retry', '', 'the task must be a function')
    for (;;) {
      try {
        return await task()
      } catch (error) {
        if (!isCode(error, 'CONNECTIONLOSS')) throw error
      }
      await this.whenConnected({ signal, readOnly: true })
    }
  }

  /**
   * Replaces the list of servers. A client that is connected to a server which the new list lacks reconnects, with the
   * same session. If there are more servers than before, a share of all clients reconnects too, so that the load is even
   * afterwards (the rule of Java's client). What is in flight then fails with CONNECTIONLOSS. Two servers are the same if
   * their names and ports are.
   * @param servers as for `connect`, SRV records too; without a chroot, or with the one this client has
   * @throws ZooKeeperError BADARGUMENTS; SESSIONEXPIRED, AUTHFAILED, CLOSED
   */
  updateServerList(servers: string): void {
    const connectString = parseConnectString(servers, 'updateServerList')
    const { chroot } = connectString
    if (chroot !== '' && chroot !== this.root.prefix)
      throw badArguments('updateServerList', '', `the chroot is ${this.root.prefix || '/'} and cannot become ${chroot}`)
    if (isTerminal(this.state)) throw new ZooKeeperError(terminalCodes[this.state], { fate: 'notSent' })
    this.#session.hosts.setServers(connectString)
  }

  /** Counters since the session began. The channels `zkwire:…` of node:diagnostics_channel publish more. */
  get stats(): SessionStats {
    return this.#session.diagnostics.stats
  }

  /** Resolves when no clean-up is running in the background. */
  settled(): Promise<void> {
    return this.#session.background.settled()
  }

  /**
   * Waits for the replies to earlier calls, and ends the session at the server, and with it its ephemeral nodes. Resolves
   * when that is done, or after a third of the session timeout if no server can be reached. Later calls reject with
   * CLOSED. May be called again.
   */
  async close(): Promise<void> {
    if (!this.#isView) return this.#session.close()
    const previous = this.state
    if (isTerminal(previous)) return
    this.#isClosed = true
    this.#session.watches.endOwned(this)
    for (const [listener, own] of this.#listeners ?? []) {
      this.#session.states.off(own)
      this.#session.callbacks.later(previous => listener('closed', previous), previous)
    }
    this.#listeners?.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** What util.inspect and console.log show. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: object, inspect: (...args: unknown[]) => string) {
    const { state, sessionId, sessionTimeout } = this
    const shown = { state, server: this.#session.server, sessionId: hex64(sessionId), sessionTimeout }
    return `Client ${inspect({ ...shown, chroot: this.root.prefix || '/' }, options)}`
  }

  /** @internal See recipe-support.ts. */
  get [internals](): ClientInternals {
    return { session: this.#session, settings: this.#settings, root: this.root }
  }

  protected override get owner(): object | undefined {
    return this.#isView ? this : undefined
  }

  protected override submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    if (this.#isClosed) return Promise.reject(closed(call.op.method, call.path))
    return this.#session.requests.submit(call)
  }
}

const UNCLONEABLE = Symbol('a client of zkwire')

/** Untyped callers would listen for 'error' or 'expired', and be called for something else or never. */
function checkEvent(op: string, event: string, listener: unknown): void {
  if (event !== 'state') throw badArguments(op, '', `there is no event '${event}'; the only event is 'state'`)
  if (typeof listener !== 'function') throw badArguments(op, '', 'the listener must be a function')
}

const closed = (op: string, path: string) => new ZooKeeperError('CLOSED', { op, path, fate: 'notSent' })
