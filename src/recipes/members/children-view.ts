// A local copy of the children of a directory, which follows their changes.
import { isCode, join, nameOf, parentOf, type Stat } from '../../protocol/index.ts'
import { forwardAbort, onAbort } from '../../runtime/abort.ts'
import { deferred } from '../../runtime/deferred.ts'
import type { Client, ReadOptions, Watcher } from '../../client/index.ts'
import { Latest } from './latest.ts'
import type { SessionLoop } from './session-loop.ts'

export interface Child {
  readonly name: string
  readonly path: string
  readonly data: Buffer | null
  readonly stat: Stat
}

export type Children = ReadonlyMap<string, Child>

/** The largest number of reads in flight. More would delay the other requests of the session. */
const READS_IN_FLIGHT = 100

/**
 * The children of one directory, in one session after another. One persistent recursive watch reports their changes.
 * Servers before 3.6 have no such watch, so there the list and each child have a watch of their own.
 */
export class ChildrenView {
  readonly latest = new Latest<Children>(new Map())
  readonly #directory: string
  readonly #onChange: (client: Client, before: Children, after: Children) => void

  /** @param onChange called with the children before and after each change */
  constructor(directory: string, onChange: (client: Client, before: Children, after: Children) => void) {
    this.#directory = directory
    this.#onChange = onChange
  }

  /** A round of the loop: loads the children, and follows their changes until the loop is stopped. */
  async follow(loop: SessionLoop): Promise<void> {
    // Removes the watches when the round ends, also if it fails.
    const scope = new AbortController()
    const stopListening = forwardAbort(loop.signal, scope)
    try {
      const copy = new Copy(loop.client, this.#directory, this.latest.value, scope.signal)
      await copy.watch()
      for (;;) {
        await copy.update()
        loop.signal.throwIfAborted()
        if (copy.isChanged) this.#publish(loop.client, copy.take())
        loop.reached(0)
        await copy.whenStale()
      }
    } finally {
      stopListening()
      scope.abort(ENDED)
    }
  }

  #publish(client: Client, after: Children): void {
    const before = this.latest.value
    this.latest.publish(after)
    this.#onChange(client, before, after)
  }
}

/** No caller sees this reason. */
const ENDED = new Error('the round has ended')

/** The children in one round. */
class Copy {
  isChanged = false
  readonly #client: Client
  readonly #directory: string
  readonly #signal: AbortSignal
  #children: Map<string, Child>
  /** The names to read again. */
  #stale = new Set<string>()
  #isListStale = true
  /** True if a change of any child may have been missed. */
  #isAllStale = true
  #wake = deferred()
  #failure: { error: unknown } | undefined
  #isPersistent = false

  constructor(client: Client, directory: string, children: Children, signal: AbortSignal) {
    this.#client = client
    this.#directory = directory
    this.#children = new Map(children)
    this.#signal = signal
    onAbort(signal, () => this.#fail(signal.reason))
  }

  async watch(): Promise<void> {
    try {
      const watcher = await this.#client.addWatch(this.#directory, { recursive: true, signal: this.#signal })
      this.#isPersistent = true
      this.#listen(watcher).catch((error: unknown) => this.#fail(error))
    } catch (error) {
      if (!isCode(error, 'UNIMPLEMENTED')) throw error
    }
  }

  /** Returns the present children, and counts the changes from now on. */
  take(): Children {
    this.isChanged = false
    return new Map(this.#children)
  }

  /** Resolves when {@link update} has something to do. Rejects when the round must end. */
  async whenStale(): Promise<void> {
    while (!this.#isListStale && this.#stale.size === 0) {
      if (this.#failure !== undefined) throw this.#failure.error
      await this.#wake.promise
    }
  }

  /** Reads what is stale. */
  async update(): Promise<void> {
    if (this.#isListStale) await this.#list()
    const names = [...this.#stale]
    this.#stale = new Set()
    for (let i = 0; i < names.length; i += READS_IN_FLIGHT)
      await Promise.all(names.slice(i, i + READS_IN_FLIGHT).map(name => this.#read(name)))
  }

  async #list(): Promise<void> {
    this.#isListStale = false
    const isAllStale = this.#isAllStale
    this.#isAllStale = false
    const names = new Set(await this.#names())
    for (const name of this.#children.keys()) if (!names.has(name)) this.#delete(name)
    for (const name of names) if (isAllStale || !this.#children.has(name)) this.#stale.add(name)
  }

  async #names(): Promise<readonly string[]> {
    const watching = this.#watching(() => this.#markList())
    try {
      return (await this.#client.getChildren(this.#directory, watching)).children
    } catch (error) {
      if (!isCode(error, 'NONODE')) throw error
    }
    if (this.#isPersistent || (await this.#client.exists(this.#directory, watching)) === null) return []
    // The directory was created between the two reads.
    return this.#names()
  }

  async #read(name: string): Promise<void> {
    const path = join(this.#directory, name)
    try {
      const { data, stat } = await this.#client.getData(
        path,
        this.#watching(() => this.#mark(name)),
      )
      const known = this.#children.get(name)
      if (known?.stat.mzxid === stat.mzxid && known.stat.czxid === stat.czxid) return
      this.#children.set(name, { name, path, data, stat })
      this.isChanged = true
    } catch (error) {
      // NOAUTH: the session may not read the child, and gets no events of it.
      if (!isCode(error, 'NONODE', 'NOAUTH')) throw error
      this.#delete(name)
    }
  }

  #delete(name: string): void {
    if (this.#children.delete(name)) this.isChanged = true
  }

  #watching(watch: () => void): ReadOptions {
    return this.#isPersistent ? { signal: this.#signal } : { signal: this.#signal, watch }
  }

  async #listen(watcher: Watcher): Promise<void> {
    for await (const { type, path } of watcher) {
      if (type === 'resync') {
        this.#isAllStale = true
        this.#markList()
      } else if (path === this.#directory) this.#markList()
      else if (parentOf(path) === this.#directory) this.#mark(nameOf(path))
    }
    if (this.#signal.aborted) return
    // The session has ended, or the client is closed. The next call reports which.

    await this.#client.exists(this.#directory)
  }

  #markList(): void {
    this.#isListStale = true
    this.#wakeUp()
  }

  #mark(name: string): void {
    this.#stale.add(name)
    this.#wakeUp()
  }

  #fail(error: unknown): void {
    this.#failure = { error }
    this.#wakeUp()
  }

  #wakeUp(): void {
    const { resolve } = this.#wake
    this.#wake = deferred()
    resolve()
  }
}
