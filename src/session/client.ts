// The client: ZooKeeper's operations as methods. Each queues its request before it returns, and returns the session's own promise.
import {
  createModes,
  errnos,
  operations,
  pathProblem,
  ZooKeeperError,
  type ACL,
  type Encodable,
  type GetChildren2Response,
  type GetDataResponse,
  type Operation,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import { createProblem, dataProblem, openACL, versionProblem, type CreateOptions, type Data } from './arguments.ts'
import { Chroot } from './chroot.ts'
import type { Clock } from './clock.ts'
import { itemOf, opProblem, outcomeOf, pathOf, type MultiOp, type MultiResult } from './multi.ts'
import { uuidFrom } from './random.ts'
import type { Call } from './request.ts'
import type { Session, StateListener } from './session.ts'
import type { Settings } from './options.ts'
import { isTerminal, terminalCodes, type State } from './states.ts'
import { Transaction } from './transaction.ts'
import { deleteRecursive, ensurePath } from './tree.ts'
import type { WatchCallback } from './watches.ts'

export interface ReadOptions {
  /** Called once, when what was read changes; and when the session ends first. */
  watch?: WatchCallback
  /** Gives up the call, which then rejects with the signal's reason, and later the watch. */
  signal?: AbortSignal
}

/**
 * A session with ZooKeeper, seen from a root in its tree. Every call rejects with a {@link ZooKeeperError}: the server's own
 * codes; BADARGUMENTS and REQUESTTOOLARGE for what is not even sent; CONNECTIONLOSS where the answer was lost (`fate` tells whether
 * it may have been done); SESSIONEXPIRED, AUTHFAILED and CLOSED once the session is over.
 */
export class Client implements AsyncDisposable {
  readonly #session: Session
  readonly #settings: Settings
  readonly #chroot: Chroot
  readonly #isView: boolean
  #isClosed = false

  constructor(session: Session, settings: Settings, chroot: string, isView = false) {
    this.#session = session
    this.#settings = settings
    this.#chroot = new Chroot(chroot)
    this.#isView = isView
  }

  // Nodes

  /**
   * Creates a node. Its `path` is longer than what was asked for in a sequential mode: ten digits are appended.
   * @throws NODEEXISTS, NONODE (no parent), NOCHILDRENFOREPHEMERALS, NOAUTH, INVALIDACL, QUOTAEXCEEDED; UNIMPLEMENTED for a TTL
   * mode that is switched off at the server
   */
  create(path: string, data: Data = '', options: CreateOptions = {}): Promise<{ path: string; stat: Stat }> {
    const problem = createProblem(path, options) ?? dataProblem(data)
    if (problem !== undefined) return refuse('create', path, problem)
    const { mode = 'persistent', acl = openACL, ttl } = options
    const body = { path: this.#chroot.add(path), data, acl, flags: createModes[mode] }
    const result = (created: { path: string; stat: Stat }) => ({
      path: this.#chroot.created(path, created.path),
      stat: created.stat,
    })
    if (ttl !== undefined) return this.#submit({ op: operations.createTTL, body: { ...body, ttl }, path, result })
    return this.#submit({
      op: mode === 'container' ? operations.createContainer : operations.create2,
      body,
      path,
      result,
    })
  }

  /** @throws NONODE, NOTEMPTY, BADVERSION, NOAUTH */
  delete(path: string, { version = -1 }: { version?: number } = {}): Promise<void> {
    const problem = pathProblem(path) ?? versionProblem(version)
    if (problem !== undefined) return refuse('delete', path, problem)
    const body = { path: this.#chroot.add(path), version }
    return this.#submit({ op: operations.delete, body, path, result: nothing })
  }

  /** The node's Stat, or null where there is none; a watch then waits for it to be created. */
  exists(path: string, options: ReadOptions = {}): Promise<Stat | null> {
    return this.#read(operations.exists, path, options, statOrNull, null)
  }

  /** @throws NONODE (no watch is left then), NOAUTH */
  getData(path: string, options: ReadOptions = {}): Promise<TypeOf<typeof GetDataResponse>> {
    return this.#read(operations.getData, path, options, same)
  }

  /** @throws NONODE, BADVERSION, NOAUTH, QUOTAEXCEEDED */
  setData(path: string, data: Data, { version = -1 }: { version?: number } = {}): Promise<Stat> {
    const problem = pathProblem(path) ?? versionProblem(version) ?? dataProblem(data)
    if (problem !== undefined) return refuse('setData', path, problem)
    const body = { path: this.#chroot.add(path), data, version }
    return this.#submit({ op: operations.setData, body, path, result: ({ stat }) => stat })
  }

  /**
   * The names of the children, in no order, and the node's own Stat.
   * @throws NONODE (no watch is left then), NOAUTH
   */
  getChildren(path: string, options: ReadOptions = {}): Promise<TypeOf<typeof GetChildren2Response>> {
    return this.#read(operations.getChildren2, path, options, same)
  }

  /** Has the server catch up with the leader: a read behind it sees everything that was done before it. */
  sync(path: string): Promise<void> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse('sync', path, problem)
    return this.#submit({ op: operations.sync, body: { path: this.#chroot.add(path) }, path, result: nothing })
  }

  /**
   * Does all of the operations, or none. The results stand in the operations' order: as of `create`, as of `setData`, undefined for
   * `delete` and `check`.
   * @throws MultiError of the operation that was refused
   */
  multi(ops: readonly MultiOp[]): Promise<MultiResult[]> {
    for (const op of ops) {
      const problem = ('create' in op ? undefined : pathProblem(pathOf(op))) ?? opProblem(op)
      if (problem !== undefined) return refuse('multi', pathOf(op), problem)
    }
    const given = [...ops]
    return this.#submit({
      op: operations.multi,
      body: given.map(op => itemOf(op, this.#chroot)),
      path: given.map(pathOf).join(' '),
      // A failed multi is an error made of a good reply; the session rejects with it.
      result: reply => outcomeOf(given, reply, this.#chroot) as MultiResult[],
    })
  }

  transaction(): Transaction {
    return new Transaction(ops => this.multi(ops))
  }

  // Watches and credentials

  /**
   * Drops the one-shot watches on a path, here and at the server; nobody is told.
   * @throws NOWATCHER where there is none
   */
  removeWatches(path: string, kind: 'data' | 'children' | 'any' = 'any'): Promise<void> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse('removeWatches', path, problem)
    if (this.#isClosed) return Promise.reject(closed('removeWatches', path))
    return this.#session.watching.remove(path, this.#chroot.add(path), kind)
  }

  /**
   * Adds credentials to the session; they are sent first on each later connection too. Resolves when a server has accepted them.
   * @throws AUTHFAILED, which ends the session
   */
  addAuth(scheme: string, auth: Uint8Array | string): Promise<void> {
    return this.#session.addAuth({ scheme, auth })
  }

  // Whole branches

  /** Makes sure that the node and all above it exist, and waits through lost connections. Missing ones are created empty. */
  async ensurePath(
    path: string,
    {
      mode = 'persistent',
      acl,
      signal,
    }: { mode?: 'persistent' | 'container'; acl?: readonly ACL[]; signal?: AbortSignal } = {},
  ): Promise<void> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse('ensurePath', path, problem)
    // From the server's root: the chroot's own nodes may be missing too.
    const root = this.#chroot.prefix === '' ? this : new Client(this.#session, this.#settings, '', true)
    if (this.#chroot.add(path) !== '/') await ensurePath(root, this.#chroot.add(path), { mode, acl, signal })
  }

  /** Deletes the node and all below it, and waits through lost connections. A node that is not there is no error. */
  async deleteRecursive(path: string): Promise<void> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse('deleteRecursive', path, problem)
    await deleteRecursive(this, path)
  }

  /** A view from another root on the same session. Its `close` ends its own watches only. */
  chroot(path: string): Client {
    const problem = pathProblem(path)
    if (problem !== undefined) throw badArguments('chroot', path, problem)
    return new Client(this.#session, this.#settings, path === '/' ? this.#chroot.prefix : this.#chroot.add(path), true)
  }

  // The session

  get state(): State {
    return this.#isClosed && !isTerminal(this.#session.state) ? 'closed' : this.#session.state
  }

  on(_event: 'state', listener: StateListener): this {
    this.#session.onState(listener)
    return this
  }

  off(_event: 'state', listener: StateListener): this {
    this.#session.offState(listener)
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

  /** Milliseconds for which the session is surely alive; 0 when it must be presumed lost. Computed at the call. */
  validFor(): number {
    return this.#session.validFor()
  }

  /**
   * Aborts when the session must be presumed lost: the lease ran out, or the session is over. It stays aborted; a session that comes
   * back has a new signal here. It lags a stall of the process by at most one turn of the event loop; {@link validFor} does not.
   */
  get lease(): AbortSignal {
    return this.#session.lease
  }

  /**
   * Resolves when there is a connection that takes writes: at once, or after the next reconnect.
   * @throws SESSIONEXPIRED, AUTHFAILED, CLOSED; the signal's reason
   */
  connected({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        if (signal?.aborted) reject(signal.reason as Error)
        else if (isTerminal(this.state)) reject(new ZooKeeperError(terminalCodes[this.state], { fate: 'notSent' }))
        else if (this.state === 'connected') resolve()
        else return
        this.off('state', settle)
        signal?.removeEventListener('abort', settle)
      }
      this.on('state', settle)
      signal?.addEventListener('abort', settle)
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
      await this.connected({ signal })
    }
  }

  /** Has {@link settled} wait for work that goes on behind a call that has ended. What it rejects with is lost. */
  inBackground(work: Promise<unknown>): void {
    this.#session.inBackground(work)
  }

  /** Resolves when no clean-up is under way in the background. */
  settled(): Promise<void> {
    return this.#session.background.settled()
  }

  /** A fresh random id, from the randomness this client was given. */
  uuid(): string {
    return uuidFrom(this.#settings.random)
  }

  /** The time this client lives in. */
  get clock(): Clock {
    return this.#settings.clock
  }

  /**
   * Answers earlier calls, ends the session at the server and with it its ephemeral nodes, and resolves when that is done, or after a
   * third of the session timeout where no server can be reached. Later calls reject with CLOSED. May be called again.
   */
  async close(): Promise<void> {
    if (!this.#isView) return this.#session.close()
    this.#isClosed = true
    this.#session.watching.endOwned(this)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  // How calls are made

  #read<Q extends { path: string; watch: boolean }, R, V>(
    op: Operation<Q, R>,
    path: string,
    { watch: callback, signal }: ReadOptions,
    result: (response: R) => V,
    absent?: V,
  ): Promise<V> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse(op.method, path, problem)
    const serverPath = this.#chroot.add(path)
    const body = { path: serverPath, watch: callback !== undefined } as Encodable<Q>
    return this.#submit({
      op,
      body,
      path,
      result,
      signal,
      watch: callback && { callback, path, serverPath, signal, owner: this },
      ...(absent !== undefined && { tolerates: { errno: errnos.NONODE, value: absent } }),
    })
  }

  #submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    if (this.#isClosed) return Promise.reject(closed(call.op.method, call.path))
    return this.#session.submit(call)
  }
}

const closed = (op: string, path: string) => new ZooKeeperError('CLOSED', { op, path, fate: 'notSent' })
const badArguments = (op: string, path: string, detail: string) =>
  new ZooKeeperError('BADARGUMENTS', { op, path, fate: 'notSent', detail })
const refuse = (op: string, path: string, detail: string): Promise<never> =>
  Promise.reject(badArguments(op, path, detail))

const nothing = () => undefined
const same = <T>(value: T): T => value
const statOrNull = ({ stat }: { stat: Stat }): Stat | null => stat
