// Data that clients share: values, counters, queues of items, leases. This file: a value that is updated by its version.
// May import: recipes/locks, recipes/changes, recipes/node, recipes/call, client/index.ts, client/recipe-support.ts,
// options, protocol, runtime.
import { copyOfACL, inBackground, newPace, unlessRefused, type Pace } from '../../client/recipe-support.ts'
import { badArguments, isCode, type ACL, type Stat } from '../../protocol/index.ts'
import { optionsProblem } from '../../options/checks.ts'
import { isStrayPromise } from '../../runtime/callbacks.ts'
import type { Client, MultiOp, SignalOption } from '../../client/index.ts'
import { checkArguments, checkFunction } from '../call/arguments.ts'
import { cancellable, waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { closedError } from '../call/closed-error.ts'
import { Conversion, type Written } from '../call/codec.ts'
import { Followed } from '../changes/followed.ts'
import { WatchedState } from '../changes/watched-state.ts'
import type { Iteration } from '../changes/publisher.ts'
import { ensureParent } from '../node/ensure-directory.ts'
import { readWatched, type Seen } from '../node/read-with-watch.ts'
import { MarkedMulti } from './marked-multi.ts'
import { valueChecks, type SharedValueOptions, type VersionedData } from './shared-value-options.ts'

/**
 * The data of one node, which several clients update. An update is executed exactly once, also if the connection is
 * lost. For this purpose each write creates a marker in the same transaction: an ephemeral child of the node, which is
 * deleted in the background. So a writer needs the permissions READ, WRITE, CREATE and DELETE on the node.
 *
 * The updates of one object follow each other. Those of several objects and clients contend by the node's version.
 * @example
 * const value = new SharedValue(zk, '/counters/text', { initial: 'a' })
 * const written = await value.update(data => `${data}b`)
 * written.data?.toString() // => 'ab'
 * await value.compareAndSet(written, 'c')
 * await value.compareAndSet(written, 'd') // => null
 */
export class SharedValue<T = Buffer | null, In = Written<T>> extends Followed<VersionedData<T>> {
  /** The node that holds the value. */
  readonly path: string
  readonly #client: Client
  readonly #conversion: Conversion<T, In>
  readonly #initial: Buffer | null
  readonly #acl: readonly ACL[] | undefined
  readonly #changes: WatchedState<IdentifiedData<T>, VersionedData<T>>
  /** The end of the last write of this object. The next one waits for it, because it would only be refused. */
  #last: Promise<unknown> = Promise.resolve()
  /** Ends when the markers of all writes are removed. */
  #removals: Promise<unknown> = Promise.resolve()

  /**
   * Runs each read of a call. A Counter, which reports the changes itself, replaces it.
   * @internal See {@link WatchedState.readByCall}.
   */
  readByCall: ReadByCall = read => this.#changes.readByCall(read, state => this.#decodedIfPossible(state))

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: SharedValueOptions<T, In> = {}) {
    checkArguments('SharedValue', client, path, optionsProblem(options, valueChecks))
    const { codec, initial, acl } = options
    const view = client.chroot('/')
    const changes = new WatchedState<IdentifiedData<T>, VersionedData<T>>(
      view,
      path,
      async signal => {
        const { value, changed } = await readIdentified(view, path, this.#initial, signal)
        return { value: { id: value.id, value: this.#decoded(value.value) }, changed }
      },
      (before, { id, value }) => (before?.id === id ? undefined : value),
    )
    super(changes)
    this.path = path
    this.#client = view
    this.#changes = changes
    this.#conversion = new Conversion('SharedValue', path, codec)
    this.#initial = this.#conversion.encodeOption('initial', initial)
    this.#acl = copyOfACL(acl)
  }

  /**
   * Reads the value from the connected server, which may lag behind: call `sync(path)` of the client first to read the
   * latest value. Waits through lost connections.
   * @throws RecipeError TIMEOUT, or UNSUPPORTED if the codec refuses the data; the signal's reason; ZooKeeperError, for
   * example NOAUTH, SESSIONEXPIRED; CLOSED after {@link close}
   * @example
   * await zk.create('/colour', 'blue')
   * const { data, version } = await new SharedValue(zk, '/colour').get()
   * data?.toString() // => 'blue'
   * version // => 0
   */
  async get(options: WaitOptions = {}): Promise<VersionedData<T>> {
    this.#refuseIfClosed('get')
    const call = { op: 'get', path: this.path, options }
    return this.#decoded(await waitingRead(this.#client, call, signal => this.#read(signal)))
  }

  /**
   * Reads the value, and writes the result of the function if the value has not changed in between; otherwise begins
   * again. Creates the node and its parents if they do not exist. Resolves with the value that was written, or that was
   * left. A value is left only after a sync, because the connected server may lag behind.
   *
   * If the call is cancelled, or the session ends, the value may be written nevertheless. The error then has the fate
   * `unknown`, or is the signal's reason.
   * @param fn gets the present value and returns the next one, or undefined to leave the value. It may be called
   * several times, so it must do nothing but compute the value. It must not return a promise
   * @throws the function's error; RecipeError TIMEOUT, or UNSUPPORTED if the codec refuses the present data; the signal's
   * reason; ZooKeeperError, for example BADARGUMENTS, also if the codec refuses the new value; NOAUTH, SESSIONEXPIRED
   * @example
   * const words = new SharedValue(zk, '/words')
   * await Promise.all(['a', 'b'].map(word => words.update(data => `${data}${word}`)))
   * await words.get().then(({ data }) => data?.toString()) // => 'ab'
   */
  async update(fn: (current: T) => In | undefined, options: WaitOptions = {}): Promise<VersionedData<T>> {
    checkFunction('update', this.path, fn)
    const next = (data: Buffer | null) => {
      const value = fn(this.#conversion.decode(data))
      if (isStrayPromise(value)) throw badArguments('update', this.path, 'the function must not return a promise')
      return value === undefined ? undefined : this.#conversion.encode('update', value)
    }
    return this.#decoded(await this.updateAs('update', next, options))
  }

  /**
   * Updates the data, in the name of a call.
   * @internal
   */
  async updateAs(
    op: string,
    fn: (current: Buffer | null) => Buffer | null | undefined,
    options: WaitOptions,
  ): Promise<VersionedData> {
    return this.#write(op, options, async (marked, signal) => {
      const pace = newPace(this.#client)
      let isSynced = false
      for (;;) {
        const current = await this.#client.retry(() => this.#read(signal, isSynced), { signal })
        signal.throwIfAborted()
        const next = fn(current.data)
        if (next === undefined) {
          if (isSynced) return current
          isSynced = true
          continue
        }
        const written = await this.#tryWrite(current.version, next, marked, signal)
        if (written !== undefined) return written
        await pace.wait(signal)
      }
    })
  }

  /**
   * Writes the value unconditionally, also if the codec refuses the present data. Resolves and throws as {@link update}.
   * @example
   * const { version } = await new SharedValue(zk, '/colour').set('blue')
   * version // => 0
   */
  async set(data: In, options: WaitOptions = {}): Promise<VersionedData<T>> {
    const next = this.#conversion.encode('set', data)
    return this.#decoded(await this.updateAs('set', () => next, options))
  }

  /**
   * Writes the value if it still has the version that was read. Otherwise resolves with null and writes nothing.
   * @param expected the result of an earlier call of this object or of another
   * @throws as {@link update}
   * @example
   * const colour = new SharedValue(zk, '/colour')
   * const read = await colour.get()
   * await colour.set('blue')
   * await colour.compareAndSet(read, 'green') // => null
   */
  async compareAndSet(
    expected: Pick<VersionedData, 'version'>,
    data: In,
    options: WaitOptions = {},
  ): Promise<VersionedData<T> | null> {
    const version = (expected as typeof expected | null | undefined)?.version
    // After the largest 32-bit integer the versions go on with the smallest, so they may be negative.
    if (version === undefined || (version !== null && (version | 0) !== version))
      throw badArguments('compareAndSet', this.path, 'the first argument must be the result of an earlier call')
    const next = this.#conversion.encode('compareAndSet', data)
    const written = await this.#write('compareAndSet', options, (marked, signal) =>
      this.#tryWrite(version, next, marked, signal),
    )
    return written === undefined ? null : this.#decoded(written)
  }

  /**
   * Yields the present value, and then each new one. A slow reader gets the latest, and skips those in between. No value
   * is yielded twice. All listeners and loops of this object share one watch.
   * @throws ZooKeeperError BADARGUMENTS; when iterating: the signal's reason; RecipeError UNSUPPORTED if the codec refuses
   * the data; ZooKeeperError NOAUTH, or the error of the session at its end
   * @example
   * for await (const { data } of new SharedValue(zk, '/colour', { initial: 'blue' }).changes()) {
   *   data?.toString() // => 'blue'
   *   break
   * }
   */
  override changes(options: SignalOption = {}): Iteration<VersionedData<T>> {
    return this.#changes.iterate(options)
  }

  /**
   * Removes the listeners, and ends the loops over {@link changes}. Resolves when the writes of this object have ended,
   * and their markers are removed. Later calls reject with CLOSED. May be called again. Never rejects.
   * @example
   * const colour = new SharedValue(zk, '/colour')
   * await colour.close()
   * await colour.get() // throws CLOSED
   */
  override async close(): Promise<void> {
    this.#changes.close()
    await this.#removals
  }

  #decoded({ data, version }: VersionedData): VersionedData<T> {
    return { data: this.#conversion.decode(data), version }
  }

  /** Returns undefined if the codec refuses the data. */
  #decodedIfPossible({ id, value }: IdentifiedData): IdentifiedData<T> | undefined {
    try {
      return { id, value: this.#decoded(value) }
    } catch {
      return undefined
    }
  }

  #refuseIfClosed(op: string): void {
    if (this.#changes.isClosed) throw closedError(op, this.path)
  }

  /** Runs a write after the earlier ones of this object. Removes its marker in the background. */
  async #write<T>(
    op: string,
    options: WaitOptions,
    work: (marked: MarkedMulti, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.#refuseIfClosed(op)
    const marked = new MarkedMulti(this.#client, this.path, this.#acl)
    return cancellable(this.#client, { op, path: this.path, options }, signal => {
      const done = this.#last.then(() => {
        signal.throwIfAborted()
        return work(marked, signal)
      })
      this.#last = done.then(nothing, nothing)
      const removal = this.#last.then(() => marked.remove()).catch(nothing)
      this.#removals = this.#removals.then(() => removal)
      inBackground(this.#client, removal)
      return done
    })
  }

  /** Writes the data if the node has this version. Returns undefined if it has not, or no longer. */
  async #tryWrite(
    version: number | null,
    data: Buffer | null,
    marked: MarkedMulti,
    signal: AbortSignal,
  ): Promise<VersionedData | undefined> {
    const acl = this.#acl
    const { path } = this
    const ops: MultiOp[] = [version === null ? { create: path, data, acl } : { setData: path, data, version }]
    // For the server, version -1 means any. If the node had it, it has 0 now.
    if (version === -1) ops.push({ check: path, version: 0 })
    let pace: Pace | undefined
    for (;;) {
      try {
        await marked.commit(ops, signal)
        // The server increments the version, which is a 32-bit integer.
        return { data, version: version === null ? 0 : (version + 1) | 0 }
      } catch (error) {
        if (isCode(error, 'BADVERSION', 'NODEEXISTS')) return undefined
        if (!isCode(error, 'NONODE')) throw error
        if (version !== null) return undefined
      }
      await ensureParent(this.#client, path, { mode: 'persistent', signal })
      await (pace ??= newPace(this.#client)).wait(signal)
    }
  }

  async #read(signal: AbortSignal, isSynced = false): Promise<VersionedData> {
    const read = async () => {
      const syncing = isSynced ? this.#client.sync(this.path, { signal }) : undefined
      const reading = unlessRefused(this.#client.getData(this.path, { signal }), 'NONODE')
      const [node] = await Promise.all([reading, syncing])
      return node === undefined ? missing(this.#initial) : identified(node)
    }
    return (await this.readByCall(read)).value
  }
}

type ReadByCall = (read: () => Promise<IdentifiedData>) => Promise<IdentifiedData>

/** A value, and an id that differs for each, also if the node is deleted and created again. */
export interface IdentifiedData<T = Buffer | null> {
  readonly id: string
  readonly value: VersionedData<T>
}

/**
 * Reads a value with a watch. If there is no node, reads again with the watch of exists(), because getData() sets none
 * then.
 */
export async function readIdentified(
  client: Client,
  path: string,
  initial: Buffer | null,
  signal: AbortSignal,
): Promise<Seen<IdentifiedData>> {
  const reading = readWatched(signal, options => client.getData(path, options))
  const read = await unlessRefused(reading, 'NONODE')
  if (read !== undefined) return { value: identified(read.value), changed: read.changed }
  const { value, changed } = await readWatched(signal, options => client.exists(path, options))
  return { value: missing(initial), changed: value === null ? changed : undefined }
}

const identified = ({ data, stat }: { data: Buffer | null; stat: Stat }): IdentifiedData => ({
  id: `${stat.czxid} ${stat.version}`,
  value: { data, version: stat.version },
})

/** @param initial the value of a node that does not exist */
const missing = (initial: Buffer | null): IdentifiedData => ({
  id: '',
  // A copy, because the caller may change its bytes.
  value: { data: initial && Buffer.from(initial), version: null },
})

const nothing = () => undefined
