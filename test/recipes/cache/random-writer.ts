// A session that changes a tree at random.
import { creatorAllACL, openACL, type Client } from '../../../src/index.ts'
import type { Server } from '../../../src/server/index.ts'
import { oneOf, type Random } from '../../support/seeded-random.ts'

const NAMES = ['a', 'b', 'ü']

/** The parts of a world that its writer uses. */
export interface RandomWriterOwner {
  readonly root: string
  readonly random: Random
  readonly server: Server
  /** False if no node may become unreadable. */
  readonly hides: boolean
  open(): Promise<Client>
  sleep(ms: number): Promise<void>
  note(what: string): void
}

export class RandomWriter {
  readonly #owner: RandomWriterOwner
  readonly #writer: Client
  /** A session with ephemeral nodes, which expires now and then. */
  #other: Client
  readonly #ended: Client[] = []
  /** The number of deletions under way that take several requests. */
  #deletions = 0
  /** The paths whose nodes were made unreadable. */
  readonly #hidden = new Set<string>()

  private constructor(owner: RandomWriterOwner, writer: Client, other: Client) {
    this.#owner = owner
    this.#writer = writer
    this.#other = other
  }

  static async open(owner: RandomWriterOwner): Promise<RandomWriter> {
    const writer = await owner.open()
    await writer.addAuth('digest', 'writer:secret')
    return new RandomWriter(owner, writer, await owner.open())
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer, this.#other, ...this.#ended].map(client => client.close()))
  }

  /** Makes random changes, some of them at once. */
  async burst(count: number): Promise<void> {
    const { random } = this.#owner
    const done: Promise<unknown>[] = []
    for (let i = 0; i < count; i++) {
      done.push(this.#change().catch((error: unknown) => this.#owner.note(String(error))))
      if (random() < 0.5) await Promise.all(done)
      if (random() < 0.3) await this.#owner.sleep(Math.floor(100 * random()))
    }
    await Promise.all(done)
  }

  #randomPath(): string {
    const { random } = this.#owner
    const level = oneOf(random, [0, 1, 1, 1, 2, 2, 3])
    return this.#owner.root + Array.from({ length: level }, () => `/${oneOf(random, NAMES)}`).join('')
  }

  async #change(): Promise<unknown> {
    const { random } = this.#owner
    const [zk, path, data] = [this.#writer, this.#randomPath(), oneOf(random, ['', 'x', 'yy', null])]
    const kind = random()
    this.#owner.note(`change ${kind.toFixed(2)} ${path}`)
    if (kind < 0.35) return zk.create(path, data, { parents: path !== this.#owner.root })
    if (kind < 0.55) return zk.setData(path, data)
    if (kind < 0.65) return this.#isReadable(path) ? this.#deleteRecursive(path) : undefined
    if (kind < 0.75) return this.#isReadable(path) ? zk.delete(path) : undefined
    if (kind < 0.82)
      return this.#isReadable(path)
        ? zk.multi([{ delete: path }, { create: path, data }, { create: `${path}/a` }])
        : undefined
    if (kind < 0.87) return this.#storm(path)
    if (kind < 0.91) return this.#owner.hides ? this.#hide(path, data) : undefined
    if (kind < 0.95) return Promise.all([zk.setACL(path, openACL), zk.setData(path, data)])
    if (kind < 0.98) return this.#other.create(path, data, { mode: 'ephemeral' })
    // An ephemeral node that is deleted while it is unreadable stays in the copy.
    if (this.#hidden.size > 0) return undefined
    this.#owner.server.expireSession(this.#other.sessionId)
    const next = await this.#owner.open()
    this.#ended.push(this.#other)
    this.#other = next
    return undefined
  }

  #storm(path: string): Promise<unknown> {
    return Promise.all(Array.from({ length: 20 }, (_, i) => this.#writer.setData(path, String(i))))
  }

  /** Makes a node unreadable for the cache. The embedded server sends no events of such a node, in any version. */
  #hide(path: string, data: string | null): Promise<unknown> | undefined {
    if (this.#deletions > 0) return undefined
    this.#hidden.add(path)
    return Promise.all([this.#writer.setACL(path, creatorAllACL), this.#writer.setData(path, data)])
  }

  async #deleteRecursive(path: string): Promise<void> {
    this.#deletions++
    try {
      await this.#writer.deleteRecursive(path)
    } finally {
      this.#deletions--
    }
  }

  /** A cache cannot notice the deletion of a node that it may not read. */
  #isReadable(path: string): boolean {
    return ![...this.#hidden].some(each => each === path || each.startsWith(`${path}/`))
  }
}
