// ZooKeeper's operations as methods. Each queues its request before it returns, and returns the session's own promise.
import {
  badArguments,
  createModes,
  errnos,
  isSequential,
  pathProblem,
  watcherTypes,
  ZooKeeperError,
  type ACL,
  type ClientInfo,
  type CreateRequest,
  type CreateResponse,
  type Encodable,
  type GetACLResponse,
  type GetChildren2Response,
  type GetDataResponse,
  type MultiRequest,
  type MultiResponse,
  type Operation,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import { openACL } from './acl.ts'
import {
  aclProblem,
  createProblem,
  dataProblem,
  kindProblem,
  newDataProblem,
  opsProblem,
  optionsProblem,
  readProblem,
  versionProblem,
  type CreateOptions,
  type Data,
} from './validation.ts'
import { ROOT, type Chroot } from './chroot.ts'
import {
  CONFIG_NODE,
  configOf,
  reconfigProblem,
  reconfigRequest,
  type EnsembleConfig,
  type Reconfiguration,
} from './ensemble-config.ts'
import { itemOf, itemsOf34, opProblem, outcomeOf, pathOf, type MultiOp, type MultiResult } from './multi.ts'
import { readItemOf, readPathOf, readResultsOf, type ReadOp, type ReadResult } from './multi-read.ts'
import type { AnyCall, Call } from '../session/requests/request.ts'
import type { WatchCallback } from '../session/watches/one-shot-watches.ts'

export interface ReadOptions {
  /** Called once, when what was read changes; and when the session, or the view that set it, ends first. */
  watch?: WatchCallback
  /**
   * The handle of both: before the answer it gives up the call, which then rejects with the signal's reason, and afterwards the watch, of
   * which nothing is heard any more; with the last one here goes the server's. `removeWatches` drops all of a client's on a path.
   */
  signal?: AbortSignal
}

export interface VersionOptions {
  /** What the node's version must be, for this to be done. Default -1: any. */
  version?: number
}

/** The nodes of a tree, as seen from a root in it. */
export abstract class Operations {
  protected readonly root: Chroot

  constructor(root: Chroot) {
    this.root = root
  }

  /** Whose the watches are: a view's, or undefined of the session's own client. */
  protected abstract get owner(): object | undefined

  protected abstract submit<Q, R, V>(call: Call<Q, R, V>): Promise<V>

  /**
   * Creates a node. Its `path` is longer than what was asked for in a sequential mode: ten digits are appended.
   * @throws NODEEXISTS, NONODE (no parent), NOCHILDRENFOREPHEMERALS, NOAUTH, INVALIDACL, QUOTAEXCEEDED; UNIMPLEMENTED for a TTL
   * mode that is switched off at the server
   */
  create(path: string, data: Data = '', options: CreateOptions = {}): Promise<{ path: string; stat: Stat }> {
    const problem = optionsProblem(options) ?? createProblem(path, options) ?? dataProblem(data)
    if (problem !== undefined) return refuse('create', path, problem)
    const { mode = 'persistent', acl = openACL, ttl } = options
    const flags = createModes[mode]
    const body = { path: this.root.add(path, isSequential(flags)), data, acl, flags }
    const result = (created: { path: string; stat: Stat }) => ({
      path: this.root.created(path, created.path),
      stat: created.stat,
    })
    if (ttl !== undefined) return this.submit({ op: operations.createTTL, body: { ...body, ttl }, path, result })
    const isContainer = mode === 'container'
    return this.submit({
      op: isContainer ? operations.createContainer : operations.create2,
      body,
      path,
      result,
      fallback: () => this.#createOf34(path, isContainer ? { ...body, flags: createModes.persistent } : body),
    })
  }

  /** For servers before 3.5, whose create answers without a Stat, and who know neither containers nor TTLs. */
  #createOf34(path: string, body: { path: string; data: Data; acl: readonly ACL[]; flags: number }): AnyCall {
    const call: Call<TypeOf<typeof CreateRequest>, TypeOf<typeof CreateResponse>, { path: string; stat: Stat }> = {
      op: operations.create,
      body,
      path,
      result: async created => {
        const own = this.root.created(path, created.path)
        const failed = (detail: string, cause?: unknown) =>
          new ZooKeeperError('NONODE', { op: 'create', path, fate: 'unknown', detail, cause })
        const stat = await this.exists(own).catch((cause: unknown) => {
          throw failed('it was created, and its Stat could not be read', cause)
        })
        if (stat !== null) return { path: own, stat }
        throw failed('it was created, and is gone again')
      },
    }
    return call as unknown as AnyCall
  }

  /** @throws NONODE, NOTEMPTY, BADVERSION, NOAUTH */
  delete(path: string, options: VersionOptions = {}): Promise<void> {
    const problem = pathProblem(path) ?? versionProblem(options)
    if (problem !== undefined) return refuse('delete', path, problem)
    const { version = -1 } = options
    return this.submit({ op: operations.delete, body: { path: this.root.add(path), version }, path, result: nothing })
  }

  /** The node's Stat, or null where there is none; a watch then waits for it to be created. */
  exists(path: string, options: ReadOptions = {}): Promise<Stat | null> {
    return this.#read(operations.exists, path, options, statOf, null)
  }

  /** @throws NONODE (no watch is left then), NOAUTH */
  getData(path: string, options: ReadOptions = {}): Promise<TypeOf<typeof GetDataResponse>> {
    return this.#read(operations.getData, path, options, same)
  }

  /** @throws NONODE, BADVERSION, NOAUTH, QUOTAEXCEEDED */
  setData(path: string, data: Data, options: VersionOptions = {}): Promise<Stat> {
    const problem = pathProblem(path) ?? versionProblem(options) ?? newDataProblem(data)
    if (problem !== undefined) return refuse('setData', path, problem)
    const { version = -1 } = options
    const body = { path: this.root.add(path), data, version }
    return this.submit({ op: operations.setData, body, path, result: statOf })
  }

  /**
   * The names of the children, in no order, and the node's own Stat.
   * @throws NONODE (no watch is left then), NOAUTH
   */
  getChildren(path: string, options: ReadOptions = {}): Promise<TypeOf<typeof GetChildren2Response>> {
    return this.#read(operations.getChildren2, path, options, same)
  }

  /** The number of all nodes below a path, at every depth; from 3.6 on. */
  getAllChildrenNumber(path: string): Promise<number> {
    const result = ({ totalNumber }: { totalNumber: number }) => totalNumber
    return this.#ask(operations.getAllChildrenNumber, path, result)
  }

  /** The paths of this session's ephemeral nodes that start with a prefix, all by default; from 3.6 on. */
  getEphemerals(prefix = '/'): Promise<string[]> {
    const problem = pathProblem(prefix)
    if (problem !== undefined) return refuse('getEphemerals', prefix, problem)
    return this.submit({
      op: operations.getEphemerals,
      body: { prefixPath: this.root.add(prefix) },
      path: prefix,
      // The server compares strings: below the root /app it finds /apple too.
      result: ({ ephemerals }) => ephemerals.filter(path => this.root.has(path)).map(path => this.root.strip(path)),
    })
  }

  /** @throws NONODE, NOAUTH */
  getACL(path: string): Promise<TypeOf<typeof GetACLResponse>> {
    return this.#ask(operations.getACL, path, same)
  }

  /**
   * @param version of the node's ACL (`stat.aversion`), -1 for any
   * @throws NONODE, BADVERSION, INVALIDACL, NOAUTH
   */
  setACL(path: string, acl: readonly ACL[], options: VersionOptions = {}): Promise<Stat> {
    const problem = pathProblem(path) ?? versionProblem(options) ?? aclProblem(acl)
    if (problem !== undefined) return refuse('setACL', path, problem)
    const { version = -1 } = options
    return this.submit({
      op: operations.setACL,
      body: { path: this.root.add(path), acl, version },
      path,
      result: statOf,
    })
  }

  /** Has the server catch up with the leader: a read behind it sees everything that was done before it. */
  sync(path: string): Promise<void> {
    return this.#ask(operations.sync, path, nothing)
  }

  /** As whom the server knows this session: one entry for each way it authenticated, its address first; from 3.7 on. */
  whoAmI(): Promise<ClientInfo[]> {
    return this.submit({ op: operations.whoAmI, body: {}, path: '', result: ({ clientInfo }) => clientInfo })
  }

  /**
   * Does all of the operations, or none. The results stand in the operations' order: as of `create`, as of `setData`, undefined for
   * `delete` and `check`.
   * @throws MultiError of the operation that was refused
   */
  multi(ops: readonly MultiOp[]): Promise<MultiResult[]> {
    const refused = refuseOne(ops, 'multi', pathOf, opProblem)
    if (refused !== undefined) return refused
    const given = [...ops]
    const body = given.map(op => itemOf(op, this.root))
    const older = itemsOf34(body)
    const call: Call<TypeOf<typeof MultiRequest>, TypeOf<typeof MultiResponse>, MultiResult[]> = {
      op: operations.multi,
      body,
      path: given.map(pathOf).join(' '),
      // A failed multi is an error made of a good reply; the session rejects with it.
      result: reply => outcomeOf(given, reply, this.root) as MultiResult[],
    }
    if (older === undefined) return this.submit(call)
    const fallback = () => ({ ...call, body: older }) as unknown as AnyCall
    // MultiTransactionRecord.deserialize of 3.4: an item of a type that it does not know is a broken request to it.
    return this.submit({ ...call, fallback, unsupportedErrno: errnos.MARSHALLINGERROR })
  }

  /** Reads that see one state of the tree; one that fails has its ZooKeeperError in its place. From 3.6 on. */
  multiRead(ops: readonly ReadOp[]): Promise<ReadResult[]> {
    const refused = refuseOne(ops, 'multiRead', readPathOf, op => pathProblem(readPathOf(op)))
    if (refused !== undefined) return refused
    const given = [...ops]
    return this.submit({
      op: operations.multiRead,
      body: given.map(op => readItemOf(op, this.root)),
      path: given.map(readPathOf).join(' '),
      result: reply => readResultsOf(given, reply),
    })
  }

  /**
   * Does the server hold a watch of this session on a path?
   * @throws NOWATCHER where it does not
   */
  checkWatches(path: string, kind: 'data' | 'children' | 'any' = 'any'): Promise<void> {
    const problem = pathProblem(path) ?? kindProblem(kind)
    if (problem !== undefined) return refuse('checkWatches', path, problem)
    const body = { path: this.root.add(path), type: watcherTypes[kind] }
    return this.submit({ op: operations.checkWatches, body, path, result: nothing })
  }

  /** The ensemble's dynamic configuration, as the server has it; whatever this client's root is. */
  getConfig(options: ReadOptions = {}): Promise<EnsembleConfig> {
    return this.#read(operations.getData, CONFIG_NODE, options, configOf, undefined, ROOT)
  }

  /**
   * Changes the ensemble: servers that join and leave, or all of the members anew.
   * @throws RECONFIGDISABLED (as servers are set up by default), NOAUTH, BADVERSION, NEWCONFIGNOQUORUM, RECONFIGINPROGRESS
   */
  reconfig(change: Reconfiguration = {}): Promise<EnsembleConfig> {
    const problem = optionsProblem(change) ?? reconfigProblem(change)
    if (problem !== undefined) return refuse('reconfig', CONFIG_NODE, problem)
    return this.submit({ op: operations.reconfig, body: reconfigRequest(change), path: CONFIG_NODE, result: configOf })
  }

  /** An operation on nothing but a path. */
  #ask<R, V>(op: Operation<{ path: string }, R>, path: string, result: (response: R) => V): Promise<V> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse(op.method, path, problem)
    return this.submit({ op, body: { path: this.root.add(path) }, path, result })
  }

  /** An operation that can leave a watch. */
  #read<Q extends { path: string; watch: boolean }, R, V>(
    op: Operation<Q, R>,
    path: string,
    options: ReadOptions,
    result: (response: R) => V,
    absent?: V,
    root: Chroot = this.root,
  ): Promise<V> {
    const problem = pathProblem(path) ?? readProblem(options)
    if (problem !== undefined) return refuse(op.method, path, problem)
    const { watch: callback, signal } = options
    const serverPath = root.add(path)
    return this.submit({
      op,
      body: { path: serverPath, watch: callback !== undefined } as Encodable<Q>,
      path,
      result,
      signal,
      watch: callback && { callback, path, serverPath, signal, owner: this.owner },
      expectedError: absent === undefined ? undefined : { errno: errnos.NONODE, value: absent },
    })
  }
}

export const refuse = (op: string, path: string, detail: string): Promise<never> =>
  Promise.reject(badArguments(op, path, detail))

/** The refusal of what cannot be sent: the list itself, or the first operation in it that is not right. */
function refuseOne<Op>(
  ops: readonly Op[],
  method: string,
  pathOf: (op: Op) => string,
  problemOf: (op: Op) => string | undefined,
): Promise<never> | undefined {
  const unreadable = opsProblem(ops)
  if (unreadable !== undefined) return refuse(method, '', unreadable)
  for (const op of ops) {
    const problem = problemOf(op)
    if (problem !== undefined) return refuse(method, pathOf(op), problem)
  }
  return undefined
}

const nothing = () => undefined
const same = <T>(value: T): T => value
const statOf = ({ stat }: { stat: Stat }): Stat => stat
