// The children of a directory, in one session after another.
import { callLater, serverPath } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import { Cache } from '../cache/cache.ts'
import type { CacheChange, CacheNode } from '../cache/changes.ts'
import { Publisher, type Difference } from '../changes/publisher.ts'
import type { SessionLoop } from './session-loop.ts'
import { SessionWork, type Start, type Startable } from './session-work.ts'

/** The children of a directory, by their paths. */
export type ChildNodes = ReadonlyMap<string, CacheNode>

/** Follows the children of one directory: by a Cache in each session, which begins with the copy of the one before. */
export class ChildrenView<T> implements Startable {
  readonly changes: Publisher<ChildNodes, T>
  readonly #directory: string
  readonly #work: SessionWork
  /** The children as the changes that the cache has reported describe them. */
  readonly #children = new Map<string, CacheNode>()
  /** True if the last changes are not published. */
  #isChanged = false
  #cache: Cache | undefined

  constructor(directory: string, difference: Difference<ChildNodes, T>) {
    this.#directory = directory
    this.changes = new Publisher<ChildNodes, T>(directory, difference, new Map())
    this.#work = new SessionWork(directory, loop => this.#follow(loop))
  }

  get children(): ChildNodes {
    return this.changes.state as ChildNodes
  }

  get loop(): SessionLoop | undefined {
    return this.#work.loop
  }

  begin(client: Client): Start {
    const loop = this.#work.begin(client)
    return { ready: signal => loop.until(() => loop.goal >= 0, signal), undo: () => this.#work.undo(loop) }
  }

  close(): Promise<void> {
    this.changes.close()
    return this.#work.close()
  }

  /** A round of the loop: loads the children, and follows their changes until the loop is stopped. */
  async #follow(loop: SessionLoop): Promise<void> {
    const { client, signal } = loop
    const cache = new Cache(client, this.#directory, { depth: 1, previous: this.#previousFor(client), signal })
    this.#cache = cache
    try {
      await new Promise<never>((_, reject) => this.#listen(cache, loop, reject))
    } finally {
      await cache.close()
    }
  }

  #listen(cache: Cache, loop: SessionLoop, fail: (error: unknown) => void): void {
    const publish = () => {
      // While the cache loads, its copy is of several moments. While the client is closed, its own nodes are deleted.
      if (cache.isLoading || cache.state === 'closed' || loop.client.leaseSignal.aborted) return
      const problem = cache.hidden.get(this.#directory)
      if (problem === undefined) {
        this.#publish(loop.client)
        loop.reached()
      } else {
        fail(problem)
        void cache.close()
      }
    }
    cache.subscribe({
      onChange: change => {
        this.#apply(change)
        // Publishes this change together with the others of this turn of the event loop.
        callLater(loop.client, publish)
      },
      onLoaded: publish,
      onEnd: failure => fail(failure?.error),
    })
  }

  #apply({ path, node }: CacheChange): void {
    if (path === this.#directory) return
    if (node === undefined) this.#children.delete(path)
    else this.#children.set(path, node)
    this.#isChanged = true
  }

  #publish(client: Client): void {
    if (!this.#isChanged) return
    this.#isChanged = false
    this.changes.publish(client, new Map(this.#children))
  }

  /** Returns the cache of the last session, unless its paths were below another root. */
  #previousFor(client: Client): Cache | undefined {
    const [previous, path] = [this.#cache, this.#directory]
    if (previous === undefined || serverPath(previous.client, path) === serverPath(client, path)) return previous
    this.#children.clear()
    this.#isChanged = true
    return undefined
  }
}
