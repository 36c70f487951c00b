// A contender of another library, written with bare calls: its names, what it watches, and how it finds its node after a lost reply.
// Curator's LockInternals and kazoo's Lock both watch the node before their own, and list the queue again when it is gone.
import { isCode, type Client } from '../../src/index.ts'
import type { AcquireOptions, Held } from '../../src/recipes/index.ts'
import { Lock } from '../../src/recipes/locks/lock.ts'
import { dialects, type DialectName } from '../../src/recipes/queue/dialect.ts'

/** A uuid that no other session has. */
const uuidOf = (session: bigint) => `01234567-89ab-4cde-8f01-${session.toString(16).slice(-12).padStart(12, '0')}`

export class PeerLock extends Lock {
  readonly #dialect: DialectName

  constructor(client: Client, path: string, dialect: 'curator' | 'kazoo') {
    super(client, path)
    this.#dialect = dialect
  }

  override async acquire({ signal }: AcquireOptions = {}): Promise<Held> {
    const prefix = dialects[this.#dialect].prefix(uuidOf(this.client.sessionId), this.client.sessionId)
    try {
      await this.#retry(() => this.client.ensurePath(this.path))
      const own = await this.#retry(() => this.#create(prefix))
      while (!(await this.#retry(() => this.#isFirst(own, signal))));
      return await this.#held(own)
    } catch (error) {
      // Curator's `guaranteed()`, and kazoo's _best_effort_cleanup.
      await this.#retry(async () => {
        const own = await this.#find(prefix)
        if (own !== undefined) await this.client.delete(`${this.path}/${own}`)
      }).catch(() => undefined)
      throw error
    }
  }

  override tryAcquire(options?: AcquireOptions): Promise<Held> {
    return this.acquire(options)
  }

  override contenders(): Promise<never> {
    throw new Error('a peer has no list')
  }

  #retry<T>(task: () => Promise<T>): Promise<T> {
    return this.client.retry(task)
  }

  async #create(prefix: string): Promise<string> {
    const found = await this.#find(prefix)
    if (found !== undefined) return found
    const { path } = await this.client.create(`${this.path}/${prefix}`, '', { mode: 'ephemeralSequential' })
    return path.slice(this.path.length + 1)
  }

  async #find(prefix: string): Promise<string | undefined> {
    return (await this.client.getChildren(this.path)).children.find(name => name.startsWith(prefix))
  }

  /** Resolves when the queue must be listed again. */
  async #isFirst(own: string, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted()
    const { sequenceOf } = dialects[this.#dialect]
    const numberOf = (name: string) => sequenceOf(name) ?? Infinity
    const { children } = await this.client.getChildren(this.path)
    const queue = children.filter(name => numberOf(name) < Infinity).sort((a, b) => numberOf(a) - numberOf(b))
    const at = queue.indexOf(own)
    if (at === -1) throw new Error('the own node is gone')
    if (at === 0) return true
    await this.#left(`${this.path}/${queue[at - 1]}`, signal)
    return false
  }

  /** Resolves when the node has changed or is gone. */
  async #left(path: string, signal?: AbortSignal): Promise<void> {
    const end = new AbortController()
    try {
      await new Promise<void>((resolve, reject) => {
        const options = { watch: () => resolve(), signal: end.signal }
        this.client
          .getData(path, options)
          .catch((error: unknown) => (isCode(error, 'NONODE') ? resolve() : reject(error)))
        this.client.leaseSignal.addEventListener('abort', () => reject(new Error('the session is lost')), {
          once: true,
        })
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
    } finally {
      end.abort()
    }
  }

  async #held(own: string): Promise<Held> {
    const { client } = this
    const path = `${this.path}/${own}`
    const stat = await this.#retry(() => client.exists(path))
    if (stat === null) throw new Error('the own node is gone')
    const release = () =>
      this.#retry(() => client.delete(path)).catch((error: unknown) => {
        if (!isCode(error, 'NONODE') && client.validFor() > 0) throw error
      })
    return {
      ...{ path, token: stat.czxid, signal: client.leaseSignal, release },
      validFor: () => client.validFor(),
    } as unknown as Held
  }
}
