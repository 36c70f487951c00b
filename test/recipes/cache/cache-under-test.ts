// A cache under test, below the path of a fixture, with the changes that it tells.
import type { Client } from '../../../src/index.ts'
import { Cache, type CacheChange, type CacheOptions } from '../../../src/recipes/index.ts'
import type { Fixture } from '../fixture.ts'

/** A change as a short text: its type, its path, and the data before and after. */
const told = ({ type, path, node, old }: CacheChange): string =>
  `${type} ${path}: ${String(old?.data)} > ${String(node?.data)}`

export class CacheUnderTest {
  readonly #fixture: Fixture
  /** The changes told by the cache that was opened last. */
  changes: string[] = []

  constructor(fixture: Fixture) {
    this.#fixture = fixture
  }

  /** Opens a cache of the fixture's path, and collects its changes. */
  open(client: Client, options: CacheOptions = {}, path = this.#fixture.path): Cache {
    const changes: string[] = (this.changes = [])
    return new Cache(client, path, options).on('change', change => changes.push(this.textOf(change)))
  }

  textOf(change: CacheChange): string {
    return told(change).replaceAll(this.#fixture.path, '')
  }

  /** The paths of its nodes below the fixture's path, sorted. */
  pathsOf(cache: Cache): string[] {
    return [...cache].map(({ path }) => path.slice(this.#fixture.path.length)).sort()
  }

  /** Waits until all these changes were told. */
  tells(...expected: string[]): Promise<void> {
    return this.#fixture.until(() => expected.every(each => this.changes.includes(each)))
  }

  /** Creates nodes below the fixture's path. The data of each is the last character of its name. */
  async create(...paths: string[]): Promise<void> {
    for (const path of paths) await this.#fixture.observer.create(this.#fixture.path + path, path.slice(-1))
  }
}
