// The client: a session's nodes, watches and life, seen from a root in the tree.
import { badArguments, pathProblem, ZooKeeperError, type ACL } from '../protocol/index.ts'
import { onAbort } from '../runtime/abort.ts'
import { branchProblem, kindProblem, optionsProblem, readProblem } from './validation.ts'
import { Chroot, ROOT } from './chroot.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import type { SessionStats } from '../session/diagnostics.ts'
import { Operations, refuse } from './operations.ts'
import type { Settings } from './options.ts'
import type { Call } from '../session/requests/request.ts'
import type { Session } from '../session/session.ts'
import { isTerminal, terminalCodes, type State, type StateListener } from '../session/life/states.ts'
import { Transaction } from './transaction.ts'
import { deleteRecursive, ensurePath } from './recursive.ts'
import { EventQueue, type Watcher } from '../session/watches/watcher.ts'

export interface WatcherOptions {
  recursive?: boolean
  capacity?: number
}

/** A key that two copies of this package in one process share. */
export const internals: unique symbol = Symbol.for('zkwire.client')

/** What recipe-support.ts gives to recipes. */
export interface ClientInternals {
  readonly session: Session
  readonly settings: Settings
  readonly root: Chroot
}

/**
 * A session with ZooKeeper, seen from a root in its tree. Every call rejects with a {@link ZooKeeperError}: the server's own
 * codes; BADARGUMENTS and REQUESTTOOLARGE for what is not even sent; CONNECTIONLOSS where the answer was lost (`fate` tells whether
 * it may have been done); SESSIONEXPIRED, AUTHFAILED and CLOSED once the session is over.
 */
export class Client extends Operations implements AsyncDisposable {
  readonly #session: Session
  readonly #settings: Settings
  readonly #isView: boolean
  /** Views of one session may listen with the same function, and each stops for itself. */
  #listeners: Map<StateListener, StateListener> | undefined
  #isClosed = false
  /** Has structuredClone and postMessage refuse a client, of which they would make an empty object: no symbol can be cloned. */
  protected readonly uncloneable = UNCLONEABLE

  constructor(session: Session, settings: Settings, chroot: string, isView = false) {
    super(chroot === '' ? ROOT : new Chroot(chroot))
    this.#session = session
    this.#settings = settings
    this.#isView = isView
  }

  transaction(): Transaction {
    return new Transaction(ops => this.multi(ops))
  }

  // Watches and credentials

  /**
   * Watches a node, and with `recursive` all below it, until the watcher is closed; from 3.6 on. A node that does not exist (yet) can
   * be watched. A recursive watch hears of each node that is created, deleted or changed; one that is not recursive hears of its
   * own node, and of changes to the list of its children.
   * @param capacity how many events may wait for the reader, before they give way to one `resync`. Default 1000
   * @throws UNIMPLEMENTED on servers before 3.6, NOAUTH
   */
  addWatch(path: string, options: WatcherOptions = {}): Promise<Watcher> {
    const none = optionsProblem(options)
    if (none !== undefined) return refuse('addWatch', path, none)
    const { recursive = false, capacity = 1000 } = options
    const problem = pathProblem(path) ?? (capacity >= 1 ? undefined : `a capacity is at least 1, not ${capacity}`)
    if (problem !== undefined) return refuse('addWatch', path, problem)
    if (this.#isClosed) return Promise.reject(closed('addWatch', path))
    return this.#session.watches.add(path, {
      serverPath: this.root.add(path),
      mode: recursive ? 'persistentRecursive' : 'persistent',
      queue: new EventQueue(path, capacity),
      show: serverPath => this.root.strip(serverPath),
      owner: this.owner,
    })
  }

  /**
   * Drops this client's one-shot watches on a path, here and at the server; nobody is told.
   * @throws NOWATCHER where there is none
   */
  removeWatches(path: string, kind: 'data' | 'children' | 'any' = 'any'): Promise<void> {
    const problem = pathProblem(path) ?? kindProblem(kind)
    if (problem !== undefined) return refuse('removeWatches', path, problem)
    if (this.#isClosed) return Promise.reject(closed('removeWatches', path))
    return this.#session.watches.remove(this.owner, path, this.root.add(path), kind)
  }

  /**
   * Adds credentials to the session; they are sent first on each later connection too. Resolves when a server has accepted them.
   * @throws AUTHFAILED, which ends the session
   */
  addAuth(scheme: string, auth: Uint8Array | string): Promise<void> {
    if (this.#isClosed) return Promise.reject(closed('addAuth', ''))
    return this.#session.addAuth({ scheme, auth })
  }

  // Whole branches

  /** Makes sure that the node and all above it exist, and waits through lost connections. Missing ones are created empty. */
  async ensurePath(
    path: string,
    options: { mode?: 'persistent' | 'container'; acl?: readonly ACL[]; signal?: AbortSignal } = {},
  ): Promise<void> {
    const problem = pathProblem(path) ?? readProblem(options) ?? branchProblem(options)
    if (problem !== undefined) return refuse('ensurePath', path, problem)
    const { mode = 'persistent', acl, signal } = options
    // From the server's root: the chroot's own nodes may be missing too.
    const root = this.root.prefix === '' ? this : new Client(this.#session, this.#settings, '', true)
    if (this.root.add(path) !== '/') await ensurePath(root, this.root.add(path), { mode, acl, signal })
  }

  /**
   * Deletes the node and all below it, and waits through lost connections. A node that is not there is no error.
   * @throws NOTEMPTY where others go on creating nodes there; NOAUTH
   */
  async deleteRecursive(path: string): Promise<void> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse('deleteRecursive', path, problem)
    await deleteRecursive(this, path)
  }

  /** A view from another root on the same session. Its `close` ends its own watches only. */
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
   * Calls back at each move of the session, from a microtask at its place in the order of the wire. One function is called once,
   * however often it is given.
   * @throws ZooKeeperError BADARGUMENTS of another event: there is no other
   */
  on(event: 'state', listener: StateListener): this {
    checkEvent('on', event)
    this.#listeners ??= new Map()
    if (this.#listeners.has(listener)) return this
    const own: StateListener = (state, previous) => listener(state, previous)
    this.#listeners.set(listener, own)
    this.#session.states.on(own)
    return this
  }

  /** @throws ZooKeeperError BADARGUMENTS of another event */
  off(event: 'state', listener: StateListener): this {
    checkEvent('off', event)
    const own = this.#listeners?.get(listener)
    this.#listeners?.delete(listener)
    if (own !== undefined) this.#session.states.off(own)
    return this
  }

  get sessionId(): bigint {
    return this.#session.id
  }

  /** A copy. Who has it and the id can take the session over. */
  get sessionPassword(): Buffer {
    return this.#session.password
  }

  /** As the server gave it, ms. */
  get sessionTimeout(): number {
    return this.#session.timeout
  }

  /**
   * Milliseconds for which the session is surely alive, by what its server said; 0 when it must be presumed lost. Computed at the call.
   * A follower that is cut off from its leader says so of sessions that the leader has expired, for up to syncLimit ticks: only a
   * transaction that checks a node of the session (`held.guard()`) is proof against that.
   */
  validFor(): number {
    return this.#session.validFor()
  }

  /**
   * Aborts when the session must be presumed lost: the lease ran out, or the session is over. It stays aborted; a session that comes
   * back has a new signal here. It lags a stall of the process by at most one turn of the event loop; {@link validFor} does not.
   */
  get leaseSignal(): AbortSignal {
    return this.#session.leaseSignal
  }

  /**
   * Resolves when there is a connection that takes writes (or any, with `readOnly`): at once, or after the next reconnect.
   * @throws SESSIONEXPIRED, AUTHFAILED, CLOSED; the signal's reason
   */
  whenConnected({
    signal,
    readOnly = false,
  }: { signal?: AbortSignal | undefined; readOnly?: boolean } = {}): Promise<void> {
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
   * Runs a task, and again on the next connection each time it fails with CONNECTIONLOSS. So it must be one that does no harm when
   * it is done twice.
   */
  async retry<T>(task: () => Promise<T>, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<T> {
    for (;;) {
      try {
        return await task()
      } catch (error) {
        if (!(error instanceof ZooKeeperError) || error.code !== 'CONNECTIONLOSS') throw error
      }
      await this.whenConnected({ signal, readOnly: true })
    }
  }

  /**
   * Goes by another list of servers. Who is connected to one that is not in it reconnects, with the same session, and so does a share
   * of all clients where there are more servers than before, so that the load is even afterwards (as Java's client does it). What is
   * under way then fails with CONNECTIONLOSS. Servers are the same where their names and ports are.
   * @param servers as of `connect`, SRV records too; without a chroot, or with the one this client has
   * @throws ZooKeeperError BADARGUMENTS; SESSIONEXPIRED, AUTHFAILED, CLOSED
   */
  updateServerList(servers: string): void {
    const connectString = parseConnectString(servers)
    const { chroot } = connectString
    if (chroot !== '' && chroot !== this.root.prefix)
      throw badArguments('updateServerList', '', `the chroot is ${this.root.prefix || '/'} and stays so, not ${chroot}`)
    if (isTerminal(this.state)) throw new ZooKeeperError(terminalCodes[this.state], { fate: 'notSent' })
    this.#session.hosts.setServers(connectString)
  }

  /** Counted since the session began. The channels `zkwire:…` of node:diagnostics_channel tell more. */
  get stats(): SessionStats {
    return this.#session.diagnostics.stats
  }

  /** Resolves when no clean-up is under way in the background. */
  settled(): Promise<void> {
    return this.#session.background.settled()
  }

  /**
   * Answers earlier calls, ends the session at the server and with it its ephemeral nodes, and resolves when that is done, or after a
   * third of the session timeout where no server can be reached. Later calls reject with CLOSED. May be called again.
   */
  async close(): Promise<void> {
    if (!this.#isView) return this.#session.close()
    const previous = this.state
    if (isTerminal(previous)) return
    this.#isClosed = true
    this.#session.watches.endOwned(this)
    for (const [listener, own] of this.#listeners ?? []) {
      this.#session.states.off(own)
      this.#session.callLater(previous => listener('closed', previous), previous)
    }
    this.#listeners?.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
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
    return this.#session.submit(call)
  }
}

const UNCLONEABLE = Symbol('a client of zkwire')

/** Without types one would listen for 'error' or 'expired', and hear something else or nothing. */
function checkEvent(op: string, event: string): void {
  if (event !== 'state') throw badArguments(op, '', `there is no event ${event}, but 'state'`)
}

const closed = (op: string, path: string) => new ZooKeeperError('CLOSED', { op, path, fate: 'notSent' })
