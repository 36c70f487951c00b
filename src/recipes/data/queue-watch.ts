// Keeps the index of a queue up to date: by one persistent watch on each directory, or, at servers before 3.6, by
// one-shot watches and lists.
import { listChildren } from '../node/children.ts'
import { pause, randomOf, unlessRefused } from '../../client/recipe-support.ts'
import { join, nameOf, parentOf } from '../../protocol/index.ts'
import { Condition } from '../../runtime/condition.ts'
import type { Client, Watcher } from '../../client/index.ts'
import { readWatched } from '../node/read-with-watch.ts'
import { QueueIndex, type QueueDirectory } from './queue-index.ts'

/** At servers before 3.6: the shortest time between two lists while items to take are known, in milliseconds. */
const LIST_INTERVAL = 1000

export class QueueWatch {
  readonly index = new QueueIndex()
  /** Resolves when both directories have been listed for the first time. Rejects as {@link whenAvailable}. */
  readonly loaded: Promise<unknown>
  readonly #client: Client
  readonly #path: string
  readonly #stop = new AbortController()
  /** Notified when there may be an item to take, and at the end. */
  readonly #changed = new Condition()
  readonly #watchers: Watcher[] = []
  /** Ends the pauses between two lists. */
  #hurry = new AbortController()
  /** True if the server has no persistent watches. Only lists then show the index what other clients do. */
  #lists = false

  constructor(client: Client, path: string) {
    this.#client = client
    this.#path = path
    // One after the other, because a server before 3.6 closes the connection over the first request for a persistent
    // watch, and the client would then leave that server for the sake of the second.
    this.loaded = this.#start('entries').then(() => this.#start('taken'))
    this.loaded.catch(() => undefined)
  }

  /** True if the watch was closed or has failed. */
  get hasEnded(): boolean {
    return this.#stop.signal.aborted
  }

  /** Returns an item to take, and withholds it from other calls. Returns undefined if no item is known. */
  pick(losses: number): string | undefined {
    const name = this.index.pick(losses, randomOf(this.#client))
    if (name === undefined) this.#endPauses()
    // Marked before the request is sent, because the event of a deletion may arrive before the replies are handled.
    else this.index.change('taken', name, true)
    return name
  }

  /** Resolves when there may be an item to take. */
  async whenAvailable(signal: AbortSignal): Promise<void> {
    while (this.index.isEmpty) {
      this.#stop.signal.throwIfAborted()
      await this.#changed.wait(signal)
    }
  }

  /** The item is taken, by this process or another one. The watch reports when it is given back. */
  taken(name: string): void {
    this.index.putBack(name)
  }

  /** This process cannot decode the item. */
  invalid(name: string): void {
    this.index.passOver(name)
  }

  /** The item does not exist any more. */
  gone(name: string): void {
    this.index.change('entries', name, false)
    this.index.putBack(name)
  }

  /** The item was not taken, because the call has failed. */
  failed(name: string): void {
    this.index.change('taken', name, false)
    this.index.putBack(name)
    this.#changed.notify()
  }

  /** This process has given the item back. */
  givenBack(name: string): void {
    if (this.#lists) this.index.change('taken', name, false)
    this.#changed.notify()
  }

  /**
   * Lists the items to take, behind a sync, because the connected server may lag behind. An event that was
   * handled before may be newer than the lists, so they take no item away. A call that tries a wrong one finds that out.
   */
  async refresh(signal: AbortSignal): Promise<void> {
    const list = (directory: QueueDirectory) => listChildren(this.#client, join(this.#path, directory))
    const read = () => Promise.all([this.#client.sync(this.#path, { signal }), list('entries'), list('taken')])
    const [, entries, taken] = await this.#client.retry(read, { signal })
    this.#stop.signal.throwIfAborted()
    this.index.offer(entries.children, new Set(taken.children))
    this.#changed.notify()
  }

  /** Removes the watches, and resolves when they are gone. Calls that wait reject with the reason. */
  async close(reason: Error): Promise<void> {
    this.#stop.abort(reason)
    this.#endPauses()
    this.#changed.notify()
    await Promise.all(this.#watchers.map(watcher => watcher.close()))
  }

  #endPauses(): void {
    this.#hurry.abort()
    this.#hurry = new AbortController()
  }

  /** Resolves when the directory has been listed for the first time. */
  #start(directory: QueueDirectory): Promise<void> {
    return new Promise((resolve, reject) => {
      const onLoaded = () => {
        this.#changed.notify()
        resolve()
      }
      this.#follow(directory, onLoaded).catch((error: unknown) => {
        void this.close(error as Error)
        reject(error)
      })
    })
  }

  async #follow(directory: QueueDirectory, onLoaded: () => void): Promise<void> {
    const { signal } = this.#stop
    const path = join(this.#path, directory)
    const watcher = this.#lists ? undefined : await this.#addWatch(path)
    if (watcher === undefined) return this.#listAgainAndAgain(directory, onLoaded)
    this.#watchers.push(watcher)
    const load = async () => {
      const { children } = await this.#client.retry(() => listChildren(this.#client, path, { signal }), { signal })
      this.index.load(directory, children)
      onLoaded()
    }
    await load()
    for await (const event of watcher) {
      if (event.type === 'resync') await load()
      else if (event.type !== 'Session' && parentOf(event.path) === path) {
        this.index.change(directory, nameOf(event.path), event.type !== 'NodeDeleted')
        this.#changed.notify()
      }
    }
    // The stream has ended, because the session or the watch has ended. This call rejects with the reason.
    await this.#client.whenConnected({ signal })
  }

  /** Returns undefined if the server has no persistent watches. */
  async #addWatch(path: string): Promise<Watcher | undefined> {
    const { signal } = this.#stop
    const set = async () => {
      await this.#client.whenConnected({ signal, readOnly: true })
      return this.#client.addWatch(path, { recursive: true, signal })
    }
    const watcher = await unlessRefused(this.#client.retry(set, { signal }), 'UNIMPLEMENTED')
    this.#lists = watcher === undefined
    return watcher
  }

  async #listAgainAndAgain(directory: QueueDirectory, onLoaded: () => void): Promise<void> {
    const { signal } = this.#stop
    const path = join(this.#path, directory)
    for (;;) {
      const { names, changed } = await this.#client.retry(() => this.#listWatched(path, signal), { signal })
      this.index.load(directory, names)
      onLoaded()
      await changed
      if (!this.index.isEmpty) await pause(this.#client, LIST_INTERVAL, this.#hurry.signal)
    }
  }

  async #listWatched(path: string, signal: AbortSignal): Promise<{ names: readonly string[]; changed: Promise<void> }> {
    const reading = readWatched(signal, options => this.#client.getChildren(path, options))
    const read = await unlessRefused(reading, 'NONODE')
    if (read !== undefined) return { names: read.value.children, changed: read.changed }
    const { value, changed } = await readWatched(signal, options => this.#client.exists(path, options))
    // If the directory was created meanwhile, lists it at once.
    return { names: [], changed: value === null ? changed : Promise.resolve() }
  }
}
