// Data that clients share: values, counters, queues of items, leases; and policies of retries. This file: a value that
// is updated by its version.
// May import: recipes/locks, recipes/node, client/index.ts, client/recipe-support.ts, protocol, runtime.
import { checked, inBackground, newDataProblem, newPace, type Pace } from '../../client/recipe-support.ts'
import { badArguments, isCode, parentOf, type ACL } from '../../protocol/index.ts'
import { optionsProblem } from '../../protocol/option-checks.ts'
import { forwardAbort } from '../../runtime/abort.ts'
import type { Client, Data, MultiOp } from '../../client/index.ts'
import { checkArguments, checkFunction } from '../node/arguments.ts'
import { cancellable, waitOptionChecks, type WaitOptions } from '../node/cancellable.ts'
import { readWatched } from '../node/read-with-watch.ts'
import { ChangeListeners } from './change-listeners.ts'
import { MarkedMulti } from './marked-multi.ts'
import {
  changesChecks,
  valueChecks,
  type ChangesOptions,
  type SharedValueOptions,
  type VersionedData,
} from './shared-value-options.ts'

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
export class SharedValue {
  /** The node that holds the value. */
  readonly path: string
  readonly #client: Client
  readonly #initial: Buffer | null
  readonly #acl: readonly ACL[] | undefined
  readonly #listeners: ChangeListeners<VersionedData>
  /** The end of the last write of this object. The next one waits for it, because it would only be refused. */
  #last: Promise<unknown> = Promise.resolve()

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: SharedValueOptions = {}) {
    checkArguments('SharedValue', client, path, optionsProblem(options, valueChecks))
    this.path = path
    this.#client = client.chroot('/')
    this.#initial = bufferOf(options.initial ?? (options.initial === null ? null : ''))
    this.#acl = options.acl
    this.#listeners = new ChangeListeners(this.#client, path, each => this.changes(each))
  }

  /**
   * Reads the value from the connected server, which may lag behind: call `sync(path)` of the client first to read the
   * latest value. Waits through lost connections.
   * @throws ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * await zk.create('/colour', 'blue')
   * const { data, version } = await new SharedValue(zk, '/colour').get()
   * data?.toString() // => 'blue'
   * version // => 0
   */
  get(): Promise<VersionedData> {
    return this.#client.retry(() => this.#read())
  }

  /**
   * Reads the value, and writes the result of the function if the value has not changed in between; otherwise begins
   * again. Creates the node and its parents if they do not exist. Resolves with the value that was written.
   *
   * If the call is cancelled, or the session ends, the value may be written nevertheless. The error then has the fate
   * `unknown`, or is the signal's reason.
   * @param fn gets the present value and returns the next one, or undefined to leave the value. It may be called
   * several times, so it must do nothing but compute the value. It must not return a promise
   * @throws the function's error; RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example BADARGUMENTS,
   * NOAUTH, SESSIONEXPIRED
   * @example
   * const words = new SharedValue(zk, '/words')
   * await Promise.all(['a', 'b'].map(word => words.update(data => `${data}${word}`)))
   * await words.get().then(({ data }) => data?.toString()) // => 'ab'
   */
  async update(fn: (current: Buffer | null) => Data | undefined, options: WaitOptions = {}): Promise<VersionedData> {
    checkFunction('update', this.path, fn)
    return this.#write('update', options, async (marked, signal) => {
      const pace = newPace(this.#client)
      for (;;) {
        const current = await this.#client.retry(() => this.#read(), { signal })
        signal.throwIfAborted()
        const next = fn(current.data)
        if (next === undefined) return current
        const written = await this.#tryWrite(current.version, checkedData('update', this.path, next), marked, signal)
        if (written !== undefined) return written
        await pace.wait(signal)
      }
    })
  }

  /**
   * Writes the data unconditionally. Resolves and throws as {@link update}.
   * @example
   * const { version } = await new SharedValue(zk, '/colour').set('blue')
   * version // => 0
   */
  async set(data: Data, options: WaitOptions = {}): Promise<VersionedData> {
    const next = checkedData('set', this.path, data)
    return this.update(() => next, options)
  }

  /**
   * Writes the data if the value still has the version that was read. Otherwise resolves with null and writes nothing.
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
    data: Data,
    options: WaitOptions = {},
  ): Promise<VersionedData | null> {
    const version = (expected as typeof expected | null | undefined)?.version
    if (version === undefined || (version !== null && !Number.isInteger(version)))
      throw badArguments('compareAndSet', this.path, 'the first argument must be the result of an earlier call')
    const next = checkedData('compareAndSet', this.path, data)
    return this.#write(
      'compareAndSet',
      options,
      async (marked, signal) => (await this.#tryWrite(version, next, marked, signal)) ?? null,
    )
  }

  /**
   * Yields the present value, and then each new one. Skips values that are replaced between two reads. Yields no value
   * twice. Needs one watch, and ends when the signal aborts.
   * @throws ZooKeeperError BADARGUMENTS, NOAUTH; ZooKeeperError at the end of the session
   * @example
   * for await (const { data } of new SharedValue(zk, '/colour', { initial: 'blue' }).changes()) {
   *   data?.toString() // => 'blue'
   *   break
   * }
   */
  async *changes(options: ChangesOptions = {}): AsyncGenerator<VersionedData, void, undefined> {
    const { signal } = checked('changes', this.path, options, changesChecks)
    const pace = newPace(this.#client)
    let last: string | undefined
    for (;;) {
      // Not AbortSignal.any(): in Node 20 the caller's signal would keep an entry for each round.
      const round = new AbortController()
      const stopListening = forwardAbort(signal, round)
      try {
        const watched = await this.#client.retry(() => this.#readWatched(round.signal), { signal: round.signal })
        const isNew = watched !== undefined && watched.id !== last
        if (isNew) yield watched.value
        last = watched?.id ?? last
        await watched?.changed
        if (!isNew) await pace.wait(signal)
      } catch (error) {
        if (signal?.aborted) return
        throw error
      } finally {
        stopListening()
        round.abort()
      }
    }
  }

  /**
   * Calls the listener with the present value, and then with each new one, as {@link changes} yields them. Each
   * listener needs one watch, until {@link off} or the end of the session. Registering the same function again has no
   * effect.
   *
   * Errors that the listener throws are passed to the option `onUncaughtError` of the client. So is an error of a read,
   * for example NOAUTH, which also removes the listener.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * new SharedValue(zk, '/colour').on('change', ({ version }) => {
   *   version // => null
   * })
   */
  on(event: 'change', listener: (value: VersionedData) => unknown): this {
    this.#listeners.on(event, listener)
    return this
  }

  /**
   * Removes a listener that {@link on} registered, and its watch.
   * @throws ZooKeeperError BADARGUMENTS
   * @example
   * const versions: unknown[] = []
   * const listener = ({ version }: VersionedData) => versions.push(version)
   * new SharedValue(zk, '/colour').on('change', listener).off('change', listener)
   * await zk.sync('/')
   * versions // => []
   */
  off(event: 'change', listener: (value: VersionedData) => unknown): this {
    this.#listeners.off(event, listener)
    return this
  }

  /** Runs a write after the earlier ones of this object. Removes its marker in the background. */
  #write<T>(
    op: string,
    options: WaitOptions,
    work: (marked: MarkedMulti, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const marked = new MarkedMulti(this.#client, this.path, this.#acl)
    const call = { op, path: this.path, options, checks: waitOptionChecks }
    return cancellable(
      this.#client,
      call,
      signal => {
        const done = this.#last.then(() => {
          signal.throwIfAborted()
          return work(marked, signal)
        })
        const ended = done.then(nothing, nothing)
        this.#last = ended
        inBackground(
          this.#client,
          ended.then(() => marked.remove()),
        )
        return done
      },
      done => done.then(nothing, nothing),
    )
  }

  /** Writes the data if the node has this version. Returns undefined if it has not, or no longer. */
  async #tryWrite(
    version: number | null,
    data: Buffer | null,
    marked: MarkedMulti,
    signal: AbortSignal,
  ): Promise<VersionedData | undefined> {
    const acl = this.#acl
    const op: MultiOp = version === null ? { create: this.path, data, acl } : { setData: this.path, data, version }
    let pace: Pace | undefined
    for (;;) {
      try {
        await marked.commit([op], signal)
        // The server increments the version, which is a 32-bit integer.
        return { data, version: version === null ? 0 : (version + 1) | 0 }
      } catch (error) {
        if (isCode(error, 'BADVERSION', 'NODEEXISTS')) return undefined
        if (!isCode(error, 'NONODE')) throw error
        if (version !== null) return undefined
        // The parent is above the client's root, so this client cannot create it.
        if (this.path === '/') throw error
      }
      await this.#client.ensurePath(parentOf(this.path), { signal })
      await (pace ??= newPace(this.#client)).wait(signal)
    }
  }

  async #read(): Promise<VersionedData> {
    try {
      const { data, stat } = await this.#client.getData(this.path)
      return { data, version: stat.version }
    } catch (error) {
      if (!isCode(error, 'NONODE')) throw error
      return { data: this.#initial, version: null }
    }
  }

  /**
   * Reads the value with a watch. Returns undefined if the node was created during the call: the caller must then abort
   * the signal, which removes the watch, and call again.
   * @returns `id` differs for each value, also if the node is deleted and created again
   */
  async #readWatched(
    signal: AbortSignal,
  ): Promise<{ id: string; value: VersionedData; changed: Promise<void> } | undefined> {
    try {
      const { value, changed } = await readWatched(signal, options => this.#client.getData(this.path, options))
      const { data, stat } = value
      return { id: `${stat.czxid} ${stat.version}`, value: { data, version: stat.version }, changed }
    } catch (error) {
      if (!isCode(error, 'NONODE')) throw error
    }
    const { value, changed } = await readWatched(signal, options => this.#client.exists(this.path, options))
    return value === null ? { id: '', value: { data: this.#initial, version: null }, changed } : undefined
  }
}

function checkedData(op: string, path: string, data: unknown): Buffer | null {
  const problem = newDataProblem(data)
  if (problem !== undefined) throw badArguments(op, path, problem)
  return bufferOf(data as Data)
}

/** Returns a copy, because the caller may change its bytes while the call waits. */
const bufferOf = (data: Data): Buffer | null => (data === null ? null : Buffer.from(data as Uint8Array))

const nothing = () => undefined
