// Recipes about who is there: a node that comes back, groups and their members, items that members share, services.
// They go on in the next session. This file: the node that comes back.
// May import: recipes/cache, recipes/locks, recipes/changes, recipes/node, recipes/call, client/index.ts,
// client/recipe-support.ts, options, protocol, runtime.
import { anACL, aBoolean, checked, copyOf, newDataProblem, newPace, pause } from '../../client/recipe-support.ts'
import type { Pace } from '../../client/recipe-support.ts'
import { badArguments, isCode, longestTtl, pathProblem, ZooKeeperError, type ACL } from '../../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import { inScope } from '../../runtime/abort.ts'
import { LONGEST_TIMER } from '../../runtime/clock.ts'
import type { Client, Data } from '../../client/index.ts'
import { cancellable, waitOptionChecks, type WaitOptions } from '../call/cancellable.ts'
import { closedError } from '../call/closed-error.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import { forget, isKeptByAnother, keep } from './kept-nodes.ts'
import type { SessionLoop } from './session-loop.ts'
import { SessionWork, startAll, type Start } from './session-work.ts'
import { nodeModes, WantedNode, type NodeMode, type NodeRead } from './wanted-node.ts'

/**
 * Options of a {@link PersistentEphemeral}.
 * @example
 * const options: PersistentEphemeralOptions = { mode: 'ephemeralSequential', data: 'ready' }
 * await using node = new PersistentEphemeral('/hosts/host-', options)
 * await node.start(zk)
 * node.path // => /^\/hosts\/_c_.*-host-0000000000$/
 */
export interface PersistentEphemeralOptions {
  /** The node's data. Default: an empty string. */
  data?: Data | undefined
  /**
   * `ephemeral`: the server deletes the node when the process is gone. `ephemeralSequential`: the same, with a name
   * that begins with `_c_` and a UUID, and ends with a number. The node always comes back with the same name.
   * `persistent`: the node remains when the process is killed. `persistentTTL`: the node remains, and the server
   * deletes it later: after `ttl` milliseconds, at one of its next checks (each minute by default). In these two modes
   * a node that already exists without a session is used: its data is replaced, and `close()` deletes it. Default
   * `ephemeral`.
   */
  mode?: NodeMode | undefined
  /**
   * The time to live of mode `persistentTTL`, in milliseconds, from 1 to 2^40 - 1. Required there, and refused
   * otherwise. A child `touch` of the node is written twice in that time, as by Curator's PersistentTtlNode. So
   * watchers of the node are not notified.
   */
  ttl?: number | undefined
  /** ACL of the node, and of a missing parent. Default: the option `acl` of `connect`. The session needs READ, WRITE and DELETE. */
  acl?: readonly ACL[] | undefined
  /**
   * What happens if another session has an ephemeral node at the path, for example the session that this process had
   * before a crash. True: the node is replaced, in one transaction. This happens only at the start of a session, so two
   * processes with the same path do not replace each other's node for ever: the one that started last has the node.
   * False: waits until that node is gone, without limit unless `start()` has a `timeout`. Default true.
   */
  takeOver?: boolean | undefined
}

const checks: Checks<PersistentEphemeralOptions> = {
  data: mustBe('a Uint8Array, a string or null', value => newDataProblem(value) === undefined),
  mode: mustBe(`one of ${nodeModes.join(', ')}`, value => nodeModes.includes(value)),
  ttl: mustBe(
    `an integer from 1 to ${longestTtl}`,
    (ttl: number) => Number.isInteger(ttl) && ttl >= 1 && ttl <= longestTtl,
  ),
  acl: anACL,
  takeOver: aBoolean,
}

/**
 * A node that exists as long as the process runs. It is created again, with its data, whenever it is deleted, and in
 * each new session that {@link start} is called with. Data that another client writes to it is replaced.
 * @example
 * await using node = new PersistentEphemeral('/hosts/host-1', { data: 'ready' })
 * await node.start(zk)
 * const { data } = await other.getData('/hosts/host-1')
 * data?.toString() // => 'ready'
 */
export class PersistentEphemeral implements AsyncDisposable {
  readonly #node: WantedNode
  readonly #takesOver: boolean
  readonly #work: SessionWork

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(path: string, options: PersistentEphemeralOptions = {}) {
    const problem = pathProblem(path) ?? optionsProblem(options, checks) ?? problemWith(path, options)
    if (problem !== undefined) throw badArguments('PersistentEphemeral', path, problem)
    const { data = '', mode = 'ephemeral', ttl, acl, takeOver = true } = options
    this.#node = new WantedNode(path, { data, mode, ttl, acl })
    this.#takesOver = takeOver
    this.#work = new SessionWork(
      path,
      loop => this.#keep(loop),
      loop => this.#remove(loop),
    )
  }

  /** The path of the node. In mode `ephemeralSequential` it has its number when {@link start} has resolved. */
  get path(): string {
    return this.#node.path
  }

  /** A copy of the data that the node is given. {@link setData} changes it. */
  get data(): Data {
    return copyOf(this.#node.data)
  }

  /**
   * Creates the node in the session of this client, and keeps it there from now on. Resolves when it exists. Call it
   * again with the client of each new session, for example in the function of `supervise`. If the call fails, the node
   * is removed, unless an earlier or another call keeps it in this session.
   *
   * Errors that occur later, such as NOAUTH, are passed to `onUncaughtError` of the client. The same error is passed
   * only once, and the failed call is repeated after a pause of up to a second.
   * @throws ZooKeeperError NODEEXISTS if a node at the path should be ephemeral and is not; NOAUTH, INVALIDACL,
   * NOCHILDRENFOREPHEMERALS; UNIMPLEMENTED if the server has no nodes with a TTL; CLOSED after {@link close}; the error
   * of the session if that ends first; RecipeError TIMEOUT; the signal's reason
   * @example
   * await using node = new PersistentEphemeral('/hosts/host-1', { data: 'ready' })
   * await node.start(zk, { timeout: 10_000 })
   * const stat = await zk.exists('/hosts/host-1')
   * stat?.ephemeralOwner // => zk.sessionId
   */
  start(client: Client, options: WaitOptions = {}): Promise<void> {
    return startAll(client, this.path, options, () => [this])
  }

  /** @internal See {@link startAll}. */
  begin(client: Client): Start {
    const node = this.#node
    const loop = this.#work.begin(client, begun => keep(begun, () => node.path))
    const { version } = node
    return { ready: signal => loop.until(() => loop.goal >= version, signal), undo: () => this.#work.undo(loop) }
  }

  /**
   * Replaces the data. Resolves when the node has it. Without a session it resolves at once, and the node is created
   * with that data in the next session.
   * @throws ZooKeeperError BADARGUMENTS, NOAUTH, QUOTAEXCEEDED, CLOSED after {@link close}; the error of the session if
   * that ends first; RecipeError TIMEOUT; the signal's reason. The data is written as soon as that is possible
   * nevertheless, unless it is invalid or this object is closed
   * @example
   * await using node = new PersistentEphemeral('/hosts/host-1', { data: 'starting' })
   * await node.start(zk)
   * await node.setData('ready')
   * await zk.getData('/hosts/host-1').then(({ data }) => data?.toString()) // => 'ready'
   */
  async setData(data: Data, options: WaitOptions = {}): Promise<void> {
    const problem = newDataProblem(data)
    if (problem !== undefined) throw badArguments('setData', this.path, problem)
    checked('setData', this.path, options, waitOptionChecks)
    if (this.#work.isClosed) throw closedError('setData', this.path)
    options.signal?.throwIfAborted()
    this.#node.setData(data)
    const { version } = this.#node
    const { loop } = this.#work
    if (loop?.isRunning !== true) return
    const call = { op: 'setData', path: this.path, options }
    await cancellable(loop.client, call, signal => this.#work.until(({ goal }) => goal >= version, signal))
  }

  /**
   * Deletes the node, unless a persistent one has children of other clients, or another recipe of this session keeps
   * it. Resolves when it is gone or the session has ended. Later calls reject with CLOSED. May be called again.
   * @throws ZooKeeperError NOAUTH if the server refuses to delete the node
   * @example
   * const node = new PersistentEphemeral('/hosts/host-1')
   * await node.start(zk)
   * await node.close()
   * await zk.exists('/hosts/host-1') // => null
   */
  close(): Promise<void> {
    return this.#work.close()
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Deletes the node of a loop that has ended, unless the next session needs the same node. */
  async #remove(loop: SessionLoop): Promise<void> {
    const { client } = loop
    try {
      if (this.#node.isEphemeral || this.#work.loop === undefined)
        await retryUntilDone(client, () => this.#node.remove(client, () => isKeptByAnother(loop)))
    } catch (error) {
      if (!isCode(error, 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) throw error
    }
    forget(loop)
  }

  /** A round of the loop: creates the node, and watches it until the loop is stopped. */
  async #keep(loop: SessionLoop): Promise<void> {
    const { client, signal } = loop
    const pace = newPace(client)
    let mayExist = await this.#node.prepare(client, signal)
    for (;;) {
      await inScope([signal], async step => {
        const read = await (mayExist ? this.#node.read(client, step) : this.#node.create(client, step))
        mayExist = read !== undefined
        if (read === undefined) await pace.wait(step)
        else await this.#settle(loop, read, pace, step)
      })
      signal.throwIfAborted()
    }
  }

  /** Changes the node if it is not as wanted. Otherwise resolves when it may have to be changed. */
  async #settle(loop: SessionLoop, { value, changed }: NodeRead, pace: Pace, signal: AbortSignal): Promise<void> {
    const { client } = loop
    const node = this.#node
    const { data, stat } = value
    if (!node.isOurs(client, stat)) {
      if (stat.ephemeralOwner === 0n) throw new ZooKeeperError('NODEEXISTS', notEphemeral(this.path))
      if (!this.#takesOver || loop.goal >= 0) return changed
      return node.replace(client, stat)
    }
    if (!node.hasData(data)) {
      // Another client has written to the node, and may write again.
      await pace.wait(signal)
      return node.write(client, stat)
    }
    const { ttl } = node
    loop.reached(node.version)
    const due = () => pause(client, Math.min((ttl as number) / 2, LONGEST_TIMER), signal)
    const next = await Promise.race([
      changed,
      node.changed(signal).then(() => 'write' as const),
      ...(ttl === undefined ? [] : [due().then(() => 'touch' as const)]),
    ])
    // The watch reports this write. It is then used up, and need not be removed.
    if (next === 'write') await node.write(client, stat)
    if (next === 'touch') await node.touch(client, ttl as number)
  }
}

function problemWith(path: string, { mode, ttl }: PersistentEphemeralOptions): string | undefined {
  if (path === '/') return 'the root always exists'
  return (mode === 'persistentTTL') === (ttl !== undefined) ? undefined : 'mode persistentTTL and ttl need each other'
}

const notEphemeral = (path: string) =>
  ({
    op: 'start',
    path,
    fate: 'refused',
    detail: 'the node is not ephemeral, so it belongs to no session: delete it, or choose another path',
  }) as const
