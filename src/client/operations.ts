// ZooKeeper's operations as methods. Each sends or queues its request before it returns, and returns the session's own
// promise.
import {
  errnos,
  pathProblem,
  watcherTypes,
  ZooKeeperError,
  type ACL,
  type ClientInfo,
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
import { optionsProblem } from '../protocol/option-checks.ts'
import * as operations from '../protocol/operations.ts'
import type { AnyCall, Call } from '../session/requests/request.ts'
import type { WatchCallback } from '../session/watches/watch-event.ts'
import { ROOT, type Chroot } from './chroot.ts'
import { createCall, type Created } from './create.ts'
import {
  CONFIG_NODE,
  configOf,
  reconfigChecks,
  reconfigRequest,
  type EnsembleConfig,
  type Reconfiguration,
} from './ensemble-config.ts'
import { itemOf, itemsOf34, opProblem, outcomeOf, pathOf, type MultiOp, type MultiResults } from './multi.ts'
import { readItemOf, readPathOf, readResultsOf, type ReadOp, type ReadResults } from './multi-read.ts'
import {
  aclProblem,
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

export interface ReadOptions {
  /** Called once: when what was read changes, or when the session, or the view that set it, ends first. */
  watch?: WatchCallback
  /**
   * Before the reply, aborting rejects the call with `signal.reason`. After it, aborting removes the watch, and the
   * server's watch with the last local one on that path. `removeWatches` removes all watches of a client on a path.
   */
  signal?: AbortSignal | undefined
}

/** The operations of a client, on a tree seen from a root in it. */
export abstract class Operations {
  protected readonly root: Chroot

  constructor(root: Chroot) {
    this.root = root
  }

  /** The view that owns the watches; undefined for the session's own client. */
  protected abstract get owner(): object | undefined

  protected abstract submit<Q, R, V>(call: Call<Q, R, V>): Promise<V>

  protected abstract ensureParent(path: string, signal: AbortSignal | undefined): Promise<void>

  /**
   * Creates a node. In a sequential mode the server appends ten digits, so the resulting `path` is longer than the one
   * passed in.
   * @throws NODEEXISTS, NONODE (no parent), NOCHILDRENFOREPHEMERALS, NOAUTH, INVALIDACL, QUOTAEXCEEDED; UNIMPLEMENTED for a
   * mode with a TTL that the server has switched off
   */
  create(path: string, data: Data = '', options: CreateOptions = {}): Promise<Created> {
    const problem = createProblem(path, options) ?? dataProblem(data)
    if (problem !== undefined) return refuse('create', path, problem)
    const submit = () => this.submit(createCall(this.root, path, data, options, created => this.exists(created)))
    return options.parents === true ? this.#createWithParents(path, submit, options.signal) : submit()
  }

  async #createWithParents(path: string, submit: () => Promise<Created>, signal?: AbortSignal): Promise<Created> {
    for (;;) {
      try {
        return await submit()
      } catch (error) {
        if (!(error instanceof ZooKeeperError) || error.code !== 'NONODE' || error.fate !== 'refused') throw error
      }
      await this.ensureParent(path, signal)
    }
  }

  /** @throws NONODE, NOTEMPTY, BADVERSION, NOAUTH */
  delete(path: string, options: VersionOptions = {}): Promise<void> {
    const problem = pathProblem(path) ?? optionsProblem(options, versionChecks)
    if (problem !== undefined) return refuse('delete', path, problem)
    const { version = -1, signal } = options
    const body = { path: this.root.add(path), version }
    return this.submit({ op: operations.delete, body, path, signal, result: nothing })
  }

  /** Resolves to the node's Stat, or to null if it does not exist; a watch then waits for its creation. */
  exists(path: string, options: ReadOptions = {}): Promise<Stat | null> {
    return this.#read(operations.exists, path, options, statOf, null)
  }

  /** @throws NONODE (no watch is left then), NOAUTH */
  getData(path: string, options: ReadOptions = {}): Promise<TypeOf<typeof GetDataResponse>> {
    return this.#read(operations.getData, path, options, same)
  }

  /** @throws NONODE, BADVERSION, NOAUTH, QUOTAEXCEEDED */
  setData(path: string, data: Data, options: VersionOptions = {}): Promise<Stat> {
    const problem = pathProblem(path) ?? optionsProblem(options, versionChecks) ?? newDataProblem(data)
    if (problem !== undefined) return refuse('setData', path, problem)
    const { version = -1, signal } = options
    const body = { path: this.root.add(path), data, version }
    return this.submit({ op: operations.setData, body, path, signal, result: statOf })
  }

  /**
   * Resolves to the names of the children, in no particular order, and the Stat of the node itself.
   * @throws NONODE (no watch is left then), NOAUTH
   */
  getChildren(path: string, options: ReadOptions = {}): Promise<TypeOf<typeof GetChildren2Response>> {
    return this.#read(operations.getChildren2, path, options, same)
  }

  /** Resolves to the number of all nodes below a path, at every depth. Servers from 3.6 on. */
  getAllChildrenNumber(path: string): Promise<number> {
    const result = ({ totalNumber }: { totalNumber: number }) => totalNumber
    return this.#ask(operations.getAllChildrenNumber, path, result)
  }

  /** Resolves to the paths of this session's ephemeral nodes that start with a prefix, by default all. Servers from 3.6 on. */
  getEphemerals(prefix = '/'): Promise<string[]> {
    const problem = pathProblem(prefix)
    if (problem !== undefined) return refuse('getEphemerals', prefix, problem)
    return this.submit({
      op: operations.getEphemerals,
      body: { prefixPath: this.root.add(prefix) },
      path: prefix,
      // The server compares strings: for the root /app it finds /apple too.
      result: ({ ephemerals }) => ephemerals.filter(path => this.root.has(path)).map(path => this.root.strip(path)),
    })
  }

  /** @throws NONODE, NOAUTH */
  getACL(path: string): Promise<TypeOf<typeof GetACLResponse>> {
    return this.#ask(operations.getACL, path, same)
  }

  /**
   * Replaces the ACL of a node. Here `version` is the version of the ACL, `stat.aversion`.
   * @throws NONODE, BADVERSION, INVALIDACL, NOAUTH
   */
  setACL(path: string, acl: readonly ACL[], options: VersionOptions = {}): Promise<Stat> {
    const problem = pathProblem(path) ?? optionsProblem(options, versionChecks) ?? aclProblem(acl)
    if (problem !== undefined) return refuse('setACL', path, problem)
    const { version = -1, signal } = options
    const body = { path: this.root.add(path), acl, version }
    return this.submit({ op: operations.setACL, body, path, signal, result: statOf })
  }

  /** Makes the server catch up with the leader: a read sent after it sees everything that was done before it. */
  sync(path: string): Promise<void> {
    return this.#ask(operations.sync, path, nothing)
  }

  /** Resolves to the identities of this session at the server, its address first. Servers from 3.7 on. */
  whoAmI(): Promise<ClientInfo[]> {
    return this.submit({ op: operations.whoAmI, body: {}, path: '', result: ({ clientInfo }) => clientInfo })
  }

  /**
   * Executes all operations atomically. Results follow the order of the operations: `{path, stat}` for create, `Stat` for
   * setData, undefined for delete and check.
   * @throws MultiError, which names the operation that was refused
   */
  multi<const Ops extends readonly MultiOp[]>(ops: Ops, options: SignalOption = {}): Promise<MultiResults<Ops>> {
    const problem = optionsProblem(options, signalChecks)
    const refused = problem === undefined ? refuseOne(ops, 'multi', pathOf, opProblem) : refuse('multi', '', problem)
    if (refused !== undefined) return refused
    const given: readonly MultiOp[] = [...ops]
    const body = given.map(op => itemOf(op, this.root))
    const older = itemsOf34(body)
    const call: Call<TypeOf<typeof MultiRequest>, TypeOf<typeof MultiResponse>, MultiResults<Ops>> = {
      op: operations.multi,
      body,
      path: given.map(pathOf).join(' '),
      signal: options.signal,
      // The server reports a failed multi in a reply without an error; the call rejects with it.
      result: reply => outcomeOf(given, reply, this.root) as MultiResults<Ops>,
    }
    if (older === undefined) return this.submit(call)
    const fallback = () => ({ ...call, body: older }) as unknown as AnyCall
    // 3.4 calls a multi with an item of a type that it does not know malformed (MultiTransactionRecord.deserialize).
    return this.submit({ ...call, fallback, unsupportedErrno: errnos.MARSHALLINGERROR })
  }

  /** Reads that all see one state of the tree. The error of a read takes the place of its result. Servers from 3.6 on. */
  multiRead<const Ops extends readonly ReadOp[]>(ops: Ops): Promise<ReadResults<Ops>> {
    const refused = refuseOne(ops, 'multiRead', readPathOf, op => pathProblem(readPathOf(op)))
    if (refused !== undefined) return refused
    const given: readonly ReadOp[] = [...ops]
    return this.submit({
      op: operations.multiRead,
      body: given.map(op => readItemOf(op, this.root)),
      path: given.map(readPathOf).join(' '),
      result: reply => readResultsOf(given, reply) as ReadResults<Ops>,
    })
  }

  /**
   * Resolves if the server has a watch of this session on a path.
   * @throws NOWATCHER if it has none
   */
  checkWatches(path: string, kind: 'data' | 'children' | 'any' = 'any'): Promise<void> {
    const problem = pathProblem(path) ?? kindProblem(kind)
    if (problem !== undefined) return refuse('checkWatches', path, problem)
    const body = { path: this.root.add(path), type: watcherTypes[kind] }
    return this.submit({ op: operations.checkWatches, body, path, result: nothing })
  }

  /** Resolves to the ensemble's dynamic configuration, as the server has it, whatever the root of this client is. */
  getConfig(options: ReadOptions = {}): Promise<EnsembleConfig> {
    return this.#read(operations.getData, CONFIG_NODE, options, configOf, undefined, ROOT)
  }

  /**
   * Changes the ensemble: servers that join and leave, or a new list of all members.
   * @throws RECONFIGDISABLED (the default of servers), NOAUTH, BADVERSION, NEWCONFIGNOQUORUM, RECONFIGINPROGRESS
   */
  reconfig(change: Reconfiguration = {}): Promise<EnsembleConfig> {
    const problem = optionsProblem(change, reconfigChecks)
    if (problem !== undefined) return refuse('reconfig', CONFIG_NODE, problem)
    const body = reconfigRequest(change)
    return this.submit({ op: operations.reconfig, body, path: CONFIG_NODE, signal: change.signal, result: configOf })
  }

  /** Sends an operation whose only argument is a path. */
  #ask<R, V>(op: Operation<{ path: string }, R>, path: string, result: (response: R) => V): Promise<V> {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse(op.method, path, problem)
    return this.submit({ op, body: { path: this.root.add(path) }, path, result })
  }

  /** Sends an operation that can leave a watch. */
  #read<Q extends { path: string; watch: boolean }, R, V>(
    op: Operation<Q, R>,
    path: string,
    options: ReadOptions,
    result: (response: R) => V,
    absent?: V,
    root: Chroot = this.root,
  ): Promise<V> {
    const problem = pathProblem(path) ?? optionsProblem(options, readChecks)
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

const nothing = () => undefined
const same = <T>(value: T): T => value
const statOf = ({ stat }: { stat: Stat }): Stat => stat
