// One's own node in a lock's directory: how it comes to be, and how it surely goes, whatever happens to the answers.
import type { ACL } from '../protocol/index.ts'
import { isCode, join, nameOf, ZooKeeperError, type Stat } from '../protocol/index.ts'
import type { Client, Data, ReadOptions } from '../session/index.ts'
import { isExhausted, sequenceOf, type Dialect } from './dialect.ts'
import { LockError } from './lock-error.ts'

/** A directory of contenders, and how they are named there. */
export interface Queue {
  readonly client: Client
  readonly directory: string
  readonly dialect: Dialect
  readonly data: Data
  readonly acl: readonly ACL[] | undefined
}

export interface Node {
  readonly path: string
  readonly name: string
  readonly czxid: bigint
}

/** Refusals that pass: a clean-up that took them for an answer would leave a node in everybody's way. */
const PASSING = ['TOOMANYPENDING', 'THROTTLEDOP', 'NOTREADONLY', 'REQUESTTIMEOUT', 'OPERATIONTIMEOUT'] as const
const FIRST_PAUSE = 20

export class Place {
  readonly #queue: Queue
  readonly #prefix: string
  #node: Node | undefined
  /** A create was sent and not answered: there may be a node that we do not know of. */
  #uncertain = false
  #leaving: Promise<void> | undefined

  constructor(queue: Queue) {
    this.#queue = queue
    this.#prefix = queue.dialect.prefix(queue.client.uuid())
  }

  get node(): Node {
    if (this.#node === undefined) throw new Error('there is no node')
    return this.#node
  }

  /**
   * Makes the node, and in the same breath looks at the directory: the session's order has the look see the new node, so that a
   * free lock costs one round trip. A directory that is missing is made.
   */
  async take<Look>(look: () => Promise<Look>, signal: AbortSignal): Promise<Look> {
    const { client, directory, data, acl } = this.#queue
    this.#node = undefined
    for (;;) {
      signal.throwIfAborted()
      const path = join(directory, this.#prefix)
      this.#uncertain = true
      const creating = client.create(path, data, { mode: 'ephemeralSequential', ...(acl && { acl }) })
      const [created, looked] = await Promise.allSettled([creating, look()])
      if (created.status === 'fulfilled') {
        this.#own(created.value)
        this.#refuseExhausted()
        return looked.status === 'fulfilled' ? looked.value : client.retry(look, { signal })
      }
      const error: unknown = created.reason
      if (fateOf(error) === 'unknown') await this.#find()
      else this.#uncertain = false
      if (this.#isTaken()) {
        this.#refuseExhausted()
        return client.retry(look, { signal })
      }
      if (isCode(error, 'NONODE'))
        await client.ensurePath(directory, { mode: 'container', ...(acl && { acl }), signal })
      else if (isCode(error, 'CONNECTIONLOSS')) await client.connected({ signal })
      else throw error
    }
  }

  #refuseExhausted(): void {
    const { directory, dialect } = this.#queue
    if (isExhausted(sequenceOf(this.node.name, dialect) ?? -1)) throw new LockError('EXHAUSTED', directory)
  }

  #isTaken(): boolean {
    return this.#node !== undefined
  }

  /** Resolves when the node is known to be gone, or the session is over. May be called again. */
  leave(): Promise<void> {
    return (this.#leaving ??= this.#leave().finally(() => (this.#leaving = undefined)))
  }

  async #leave(): Promise<void> {
    for (let refusals = 0; ; refusals++) {
      try {
        if (this.#uncertain) await this.#find()
        if (this.#node !== undefined) await this.#delete(this.#node)
        this.#node = undefined
        return
      } catch (error) {
        if (isCode(error, 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) return
        if (!isCode(error, ...PASSING)) throw error
      }
      const { clock } = this.#queue.client
      await new Promise<void>(resolve => clock.setTimeout(resolve, FIRST_PAUSE * 2 ** Math.min(refusals, 6)))
    }
  }

  async #delete({ path, czxid }: Node): Promise<void> {
    const { client } = this.#queue
    for (;;) {
      try {
        await client.delete(path)
        return
      } catch (error) {
        if (isCode(error, 'NONODE')) return
        if (!isCode(error, 'CONNECTIONLOSS')) throw error
      }
      // The answer was lost. A server that lags behind may still show the node, hence the sync.
      const [, stat] = await client.retry(() => Promise.all([client.sync(path), client.exists(path)]))
      if (stat?.czxid !== czxid) return
    }
  }

  /** Looks for the node of a create that was not answered, and adopts it if it lives in this session. */
  async #find(): Promise<void> {
    const { client, directory } = this.#queue
    const found = await client.retry(async () => {
      const [, names] = await Promise.all([client.sync(directory), namesIn(this.#queue)])
      const paths = names.filter(name => name.startsWith(this.#prefix)).map(name => join(directory, name))
      const stats = await Promise.all(paths.map(async path => ({ path, stat: await client.exists(path) })))
      return stats.find(({ stat }) => stat?.ephemeralOwner === client.sessionId)
    })
    if (found?.stat) this.#own({ path: found.path, stat: found.stat })
    this.#uncertain = false
  }

  #own({ path, stat }: { path: string; stat: Stat }): void {
    this.#uncertain = false
    this.#node = { path, name: nameOf(path), czxid: stat.czxid }
  }
}

/** The names in a lock's directory; none where it does not exist (any more). */
export async function namesIn({ client, directory }: Queue, options: ReadOptions = {}): Promise<string[]> {
  try {
    return (await client.getChildren(directory, options)).children
  } catch (error) {
    if (isCode(error, 'NONODE')) return []
    throw error
  }
}

const fateOf = (error: unknown) => (error instanceof ZooKeeperError ? error.fate : undefined)
