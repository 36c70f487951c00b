// ZooKeeper's operations as methods. Each sends or queues its request before it returns. It returns the session's own
// promise, except for a create with `parents`, for invalid arguments, and if its view of the session is closed.
import {
  errnos,
  pathProblem,
  watcherTypes,
  ZooKeeperError,
  type ACL,
  type ClientInfo,
  type Encodable,
  type ExistsRequest,
  type ExistsResponse,
  type GetACLResponse,
  type GetChildren2Response,
  type GetDataResponse,
  type MultiRequest,
  type MultiResponse,
  type Operation,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import { NO_OPTIONS, optionsProblem } from '../options/checks.ts'
import * as operations from '../protocol/operations.ts'
import { substitute, type CallDetails } from '../session/requests/request.ts'
import type { Requests } from '../session/requests/requests.ts'
import { newWatch } from '../session/watches/one-shot-watches.ts'
import type { WatchCallback } from '../session/watches/watch-event.ts'
import { copyOfACL } from './acl.ts'
import { ROOT, type Chroot } from './chroot.ts'
import { Creation, type Created } from './create.ts'
import {
  CONFIG_NODE,
  configOf,
  reconfigChecks,
  reconfigRequest,
  type EnsembleConfig,
  type Reconfiguration,
} from './ensemble-config.ts'
import {
  itemOf,
  itemsOf34,
  needs35,
  opProblem,
  resultsOf,
  pathOf,
  pathsText,
  type MultiOp,
  type MultiResults,
} from './multi.ts'
import { readItemOf, readPathOf, readResultsOf, type ReadOp, type ReadResults } from './multi-read.ts'
import {
  aclProblem,
  copyOf,
  createChecks,
  createProblem,
  dataProblem,
  kindProblem,
  newDataProblem,
  readChecks,
  refuse,
  refuseOne,
  signalChecks,
  versionChecks,
  type CreateOptions,
  type Data,
  type SignalOption,
  type VersionOptions,
} from './validation.ts'

/**
 * Options of {@link Client.exists}, {@link Client.getData}, {@link Client.getChildren} and {@link Client.getConfig}.
 * @example
 * const options: ReadOptions = {
 *   watch: event => {
 *     event.type // => 'NodeCreated'
 *   },
 * }
 * await zk.exists('/app', options)
 * await zk.create('/app')
 */
export interface ReadOptions {
  /**
   * Sets a watch, which calls this function once: when the node changes, or for getChildren() when the list of its
   * children changes. If the session, or the view that set the watch, ends first, it is called then. Default: no watch.
   */
  watch?: WatchCallback | undefined
  /**
   * Before the reply, aborting rejects the call with `signal.reason`. After it, aborting removes the watch, and also
   * the server's watch if no other local watch on that path needs it. `removeWatches` removes all watches of a client
   * on a path.
   */
  signal?: AbortSignal | undefined
}

/** One of several clients of a session. It owns watches, and may be closed before the session. */
export interface View {
  isClosed: boolean
}

/** The operations of a client, on a tree seen from a root in it. */
export abstract class Operations {
  readonly #requests: Requests
  protected readonly root: Chroot
  readonly #acl: readonly ACL[]
  /** Undefined for the session's own client. */
  protected readonly view: View | undefined
  /** Created with the first node. */
  #creation: Creation | undefined

  /** @param acl the ACL of nodes that are created without one */
  constructor(requests: Requests, root: Chroot, acl: readonly ACL[], view: View | undefined) {
    this.#requests = requests
    this.root = root
    this.#acl = acl
    this.view = view
  }

  #submit<Q, R, V>(
    op: Operation<Q, R>,
    body: Encodable<Q>,
    path: string,
    result: (reply: R, path: string) => V | Promise<V>,
    signal: AbortSignal | undefined,
    details?: CallDetails<Q, V>,
  ): Promise<V> {
    if (this.view?.isClosed === true) return Promise.reject(closedError(op.method, path))
    return this.#requests.submit(op, body, path, result, signal, details)
  }

  /** Creates a node again and again, and its parent in between, until the parent exists. */
  protected abstract createWithParents(path: string, data: Data, options: CreateOptions): Promise<Created>

  /**
   * Creates a node. In a sequential mode the server appends ten digits, so the resulting `path` is longer than the one
   * passed in.
   * @param data contents of the node. Default: an empty string
   * @returns the path of the node, and its Stat
   * @throws ZooKeeperError NODEEXISTS; NONODE if the parent does not exist; NOCHILDRENFOREPHEMERALS, NOAUTH,
   * INVALIDACL, QUOTAEXCEEDED; UNIMPLEMENTED if the mode has a TTL, which the server does not know or has disabled
   * @example
   * const { path } = await zk.create('/workers/worker-', 'host-1', { mode: 'ephemeralSequential', parents: true })
   * path // => '/workers/worker-0000000000'
   */
  create(path: string, data: Data = '', options: CreateOptions = NO_OPTIONS): Promise<Created> {
    const problem = createProblem(path, options, createChecks) ?? dataProblem(data)
    if (problem !== undefined) return refuse('create', path, problem)
    const { mode, ttl, signal } = options
    // It may be sent again after the caller has reused its bytes and its ACL.
    if (options.parents === true)
      return this.createWithParents(path, copyOf(data), { mode, acl: copyOfACL(options.acl), ttl, signal })
    const creation = (this.#creation ??= new Creation(this.root, this.#acl, created => this.exists(created)))
    const body = creation.body(path, data, options)
    if (ttl !== undefined) return this.#submit(operations.createTTL, { ...body, ttl }, path, creation.result, signal)
    const op = mode === 'container' ? operations.createContainer : operations.create2
    return this.#submit(op, body, path, creation.result, signal, creation.details)
  }

  /**
   * Deletes a node that has no children.
   * @throws ZooKeeperError NONODE, NOTEMPTY, BADVERSION, NOAUTH
   * @example
   * const { stat } = await zk.create('/app')
   * await zk.delete('/app', { version: stat.version })
   * await zk.delete('/app') // throws NONODE
   */
  delete(path: string, options: VersionOptions = NO_OPTIONS): Promise<void> {
    const problem = pathProblem(path) ?? optionsProblem(options, versionChecks)
    if (problem !== undefined) return refuse('delete', path, problem)
    const { version = -1, signal } = options
    const body = { path: this.root.add(path), version }
    return this.#submit(operations.delete, body, path, nothing, signal)
  }

  /**
   * Resolves to the Stat of the node, or to null if it does not exist. In that case a watch is called when the node is
   * created.
   * @throws ZooKeeperError NOAUTH if the session may not read the node (ZOOKEEPER-2590: from 3.8.4, 3.9.2 on)
   * @example
   * const stat = await zk.exists('/')
   * stat?.numChildren // => 1
   * await zk.exists('/app') // => null
   */
  exists(path: string, options: ReadOptions = NO_OPTIONS): Promise<Stat | null> {
    return this.#read<TypeOf<typeof ExistsRequest>, TypeOf<typeof ExistsResponse>, Stat | null>(
      operations.exists,
      path,
      options,
      statOf,
      nullIfAbsent,
    )
  }

  /**
   * Resolves to the data and the Stat of the node.
   * @throws ZooKeeperError NONODE, and then sets no watch; NOAUTH
   * @example
   * await zk.create('/app', 'v1')
   * const { data, stat } = await zk.getData('/app')
   * data?.toString() // => 'v1'
   * stat.version // => 0
   */
  getData(path: string, options: ReadOptions = NO_OPTIONS): Promise<TypeOf<typeof GetDataResponse>> {
    return this.#read(operations.getData, path, options, same)
  }

  /**
   * Replaces the data of a node. Resolves to its new Stat.
   * @throws ZooKeeperError NONODE, BADVERSION, NOAUTH, QUOTAEXCEEDED
   * @example
   * const { stat } = await zk.create('/app', 'v1')
   * const { version } = await zk.setData('/app', 'v2', { version: stat.version })
   * version // => 1
   * await zk.setData('/app', 'v3', { version: stat.version }) // throws BADVERSION
   */
  setData(path: string, data: Data, options: VersionOptions = NO_OPTIONS): Promise<Stat> {
    const problem = pathProblem(path) ?? optionsProblem(options, versionChecks) ?? newDataProblem(data)
    if (problem !== undefined) return refuse('setData', path, problem)
    const { version = -1, signal } = options
    const body = { path: this.root.add(path), data, version }
    return this.#submit(operations.setData, body, path, statOf, signal)
  }

  /**
   * Resolves to the names of the children, in no particular order, and to the Stat of the node itself.
   * @throws ZooKeeperError NONODE, and then sets no watch; NOAUTH
   * @example
   * await zk.ensurePath('/app/a')
   * await zk.ensurePath('/app/b')
   * const { children, stat } = await zk.getChildren('/app')
   * children.sort() // => ['a', 'b']
   * stat.numChildren // => 2
   */
  getChildren(path: string, options: ReadOptions = NO_OPTIONS): Promise<TypeOf<typeof GetChildren2Response>> {
    return this.#read(operations.getChildren2, path, options, same)
  }

  /**
   * Resolves to the number of all nodes below a path, at every depth. Needs a server from 3.6 on.
   * @throws ZooKeeperError UNIMPLEMENTED from servers before 3.6; NONODE, NOAUTH
   * @example
   * await zk.ensurePath('/app/a/b')
   * await zk.getAllChildrenNumber('/app') // => 2
   */
  getAllChildrenNumber(path: string, options: SignalOption = NO_OPTIONS): Promise<number> {
    const result = ({ totalNumber }: { totalNumber: number }) => totalNumber
    return this.#ask(operations.getAllChildrenNumber, path, options, result)
  }

  /**
   * Resolves to the paths of the ephemeral nodes of this session that start with a prefix. Needs a server from 3.6 on.
   * @param prefix beginning of the paths. Default: `/`, the root of this client
   * @throws ZooKeeperError UNIMPLEMENTED from servers before 3.6
   * @example
   * await zk.create('/worker', '', { mode: 'ephemeral' })
   * await zk.getEphemerals() // => ['/worker']
   */
  getEphemerals(prefix = '/', options: SignalOption = NO_OPTIONS): Promise<string[]> {
    const problem = pathProblem(prefix) ?? optionsProblem(options, signalChecks)
    if (problem !== undefined) return refuse('getEphemerals', prefix, problem)
    // The server compares strings, so for the root /app it also returns paths below /apple.
    const result = ({ ephemerals }: { ephemerals: string[] }) =>
      ephemerals.filter(path => this.root.has(path)).map(path => this.root.strip(path))
    const body = { prefixPath: this.root.add(prefix) }
    return this.#submit(operations.getEphemerals, body, prefix, result, options.signal)
  }

  /**
   * Resolves to the ACL and the Stat of a node.
   * @throws ZooKeeperError NONODE, NOAUTH
   * @example
   * await zk.create('/app')
   * const { acl, stat } = await zk.getACL('/app')
   * acl // => openACL
   * stat.aversion // => 0
   */
  getACL(path: string, options: SignalOption = NO_OPTIONS): Promise<TypeOf<typeof GetACLResponse>> {
    return this.#ask(operations.getACL, path, options, same)
  }

  /**
   * Replaces the ACL of a node, and resolves to its new Stat.
   * @param options.version version of the ACL (`stat.aversion`), not of the data. Default -1: any version
   * @throws ZooKeeperError NONODE, BADVERSION, INVALIDACL, NOAUTH
   * @example
   * await zk.create('/app')
   * await zk.setACL('/app', readOnlyACL)
   * await zk.setData('/app', 'v1') // throws NOAUTH
   */
  setACL(path: string, acl: readonly ACL[], options: VersionOptions = NO_OPTIONS): Promise<Stat> {
    const problem = pathProblem(path) ?? optionsProblem(options, versionChecks) ?? aclProblem(acl)
    if (problem !== undefined) return refuse('setACL', path, problem)
    const { version = -1, signal } = options
    const body = { path: this.root.add(path), acl, version }
    return this.#submit(operations.setACL, body, path, statOf, signal)
  }

  /**
   * Makes the server catch up with the leader. Reads that are sent afterwards see all changes that the leader had
   * committed by then.
   * @example
   * await other.create('/app')
   * await zk.sync('/app')
   * const stat = await zk.exists('/app')
   * stat?.version // => 0
   */
  sync(path: string, options: SignalOption = NO_OPTIONS): Promise<void> {
    return this.#ask(operations.sync, path, options, nothing)
  }

  /**
   * Resolves to the identities that the server knows for this session. The first one is its address. Needs a server
   * from 3.7 on.
   * @throws ZooKeeperError UNIMPLEMENTED from servers before 3.7
   * @example
   * const [address] = await zk.whoAmI()
   * address?.authScheme // => 'ip'
   */
  whoAmI(options: SignalOption = NO_OPTIONS): Promise<ClientInfo[]> {
    const problem = optionsProblem(options, signalChecks)
    if (problem !== undefined) return refuse('whoAmI', '', problem)
    const result = ({ clientInfo }: { clientInfo: ClientInfo[] }) => clientInfo
    return this.#submit(operations.whoAmI, {}, '', result, options.signal)
  }

  /**
   * Executes all operations atomically: all of them, or none. Resolves to one result for each operation, in their
   * order: `{path, stat}` for create, `Stat` for setData, undefined for delete and check.
   * @throws MultiError if the server rejected an operation; it names that operation
   * @throws ZooKeeperError BADARGUMENTS if an operation is invalid
   * @example
   * const [created, stat] = await zk.multi([
   *   { create: '/app', data: 'v1' },
   *   { setData: '/app', data: 'v2', version: 0 },
   * ])
   * created.path // => '/app'
   * stat.version // => 1
   */
  multi<const Ops extends readonly MultiOp[]>(
    ops: Ops,
    options: SignalOption = NO_OPTIONS,
  ): Promise<MultiResults<Ops>> {
    const refused = refuseOne('multi', ops, options, pathOf, opProblem)
    if (refused !== undefined) return refused
    // The reply is read by them, after the caller may have reused its objects.
    const given = ops.map((op): MultiOp => ({ ...op }))
    const body = given.map(op => itemOf(op, this.root, this.#acl))
    const path = pathsText(given.map(pathOf))
    const result = (reply: TypeOf<typeof MultiResponse>) => resultsOf(given, reply, this.root) as MultiResults<Ops>
    // Servers of 3.4 answer MARSHALLINGERROR if a multi contains an item of an unknown type, and keep the connection
    // (MultiTransactionRecord.deserialize).
    const details = needs35(body) && {
      since: operations.create2.since,
      unsupportedErrno: errnos.MARSHALLINGERROR,
      fallback: (sent: TypeOf<typeof MultiRequest>) => substitute(operations.multi, itemsOf34(sent), result),
    }
    return this.#submit(operations.multi, body, path, result, options.signal, details || undefined)
  }

  /**
   * Executes several reads that all see the same state of the tree. Results follow the order of the reads. If a read
   * fails, its error is its result. Needs a server from 3.6 on.
   * @throws ZooKeeperError UNIMPLEMENTED from servers before 3.6
   * @example
   * await zk.create('/app', 'v1')
   * const [app, root] = await zk.multiRead([{ getData: '/app' }, { getChildren: '/' }])
   * 'data' in app && app.data?.toString() // => 'v1'
   * 'children' in root && root.children // => ['app', 'zookeeper']
   */
  multiRead<const Ops extends readonly ReadOp[]>(
    ops: Ops,
    options: SignalOption = NO_OPTIONS,
  ): Promise<ReadResults<Ops>> {
    const refused = refuseOne('multiRead', ops, options, readPathOf, op => pathProblem(readPathOf(op)))
    if (refused !== undefined) return refused
    const given = ops.map((op): ReadOp => ({ ...op }))
    const body = given.map(op => readItemOf(op, this.root))
    const result = (reply: TypeOf<typeof MultiResponse>) => readResultsOf(given, reply) as ReadResults<Ops>
    return this.#submit(operations.multiRead, body, pathsText(given.map(readPathOf)), result, options.signal)
  }

  /**
   * Resolves if the server has a watch of this session on a path. With a server from 3.6 to 3.8 it also resolves if
   * only other sessions have a watch there (WatchManager.containsWatcher).
   * @param kind kind of watch, as for `removeWatches`. Default `any`
   * @throws ZooKeeperError NOWATCHER if there is no such watch
   * @example
   * await zk.exists('/app', { watch: () => undefined })
   * await zk.checkWatches('/app', 'data') // => undefined
   * await zk.checkWatches('/app', 'children') // throws NOWATCHER
   */
  checkWatches(
    path: string,
    kind: 'data' | 'children' | 'any' = 'any',
    options: SignalOption = NO_OPTIONS,
  ): Promise<void> {
    const problem = pathProblem(path) ?? kindProblem(kind) ?? optionsProblem(options, signalChecks)
    if (problem !== undefined) return refuse('checkWatches', path, problem)
    const body = { path: this.root.add(path), type: watcherTypes[kind] }
    return this.#submit(operations.checkWatches, body, path, nothing, options.signal)
  }

  /**
   * Resolves to the ensemble's dynamic configuration, as the server knows it. The root of this client does not matter.
   * @throws ZooKeeperError NONODE from servers before 3.5; NOAUTH
   * @example
   * const { servers, version } = await zk.getConfig()
   * servers // => []
   * version // => undefined
   */
  getConfig(options: ReadOptions = NO_OPTIONS): Promise<EnsembleConfig> {
    return this.#read(operations.getData, CONFIG_NODE, options, configOf, undefined, ROOT)
  }

  /**
   * Changes the ensemble: adds and removes servers, or replaces the list of all members. Resolves to the new
   * configuration.
   * @throws ZooKeeperError RECONFIGDISABLED unless the server has reconfigEnabled set; NOAUTH, BADVERSION,
   * NEWCONFIGNOQUORUM, RECONFIGINPROGRESS
   * @example
   * await zk.reconfig({ joining: ['server.4=host:2888:3888;2181'], leaving: [3] }) // throws RECONFIGDISABLED
   */
  reconfig(change: Reconfiguration = {}): Promise<EnsembleConfig> {
    const problem = optionsProblem(change, reconfigChecks)
    if (problem !== undefined) return refuse('reconfig', CONFIG_NODE, problem)
    const body = reconfigRequest(change)
    return this.#submit(operations.reconfig, body, CONFIG_NODE, configOf, change.signal)
  }

  /** Sends an operation whose only argument is a path. */
  #ask<R, V>(
    op: Operation<{ path: string }, R>,
    path: string,
    options: SignalOption,
    result: (response: R) => V,
  ): Promise<V> {
    const problem = pathProblem(path) ?? optionsProblem(options, signalChecks)
    if (problem !== undefined) return refuse(op.method, path, problem)
    return this.#submit(op, { path: this.root.add(path) }, path, result, options.signal)
  }

  /** Sends a read, which can set a watch. */
  #read<Q extends { path: string; watch: boolean }, R, V>(
    op: Operation<Q, R>,
    path: string,
    options: ReadOptions,
    result: (response: R) => V,
    details?: CallDetails<Q, V>,
    root: Chroot = this.root,
  ): Promise<V> {
    const problem = pathProblem(path) ?? optionsProblem(options, readChecks)
    if (problem !== undefined) return refuse(op.method, path, problem)
    const { watch: callback, signal } = options
    const serverPath = root.add(path)
    const body = { path: serverPath, watch: callback !== undefined } as Encodable<Q>
    if (callback === undefined) return this.#submit(op, body, path, result, signal, details)
    const watch = newWatch(callback, path, serverPath, signal, this.view)
    const all = details === undefined ? { watch } : { ...details, watch }
    return this.#submit(op, body, path, result, signal, all)
  }
}

const nothing = () => undefined
const same = <T>(value: T): T => value
const statOf = ({ stat }: { stat: Stat }): Stat => stat
const nullIfAbsent = { expectedError: { errno: errnos.NONODE, value: null } }

/** The error of calls of a closed view. */
export const closedError = (op: string, path: string): ZooKeeperError =>
  new ZooKeeperError('CLOSED', { op, path, fate: 'notSent' })
