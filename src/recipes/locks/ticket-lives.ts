// The lives of a TicketMutex. Each life has a directory of its own below the lock's node, with a random name that never
// returns. So the name of a ticket in it never returns either.
import { inBackground, newPace, newUuid, serverPath, sessionKey, unlessRefused } from '../../client/recipe-support.ts'
import { isCode, join, parentOf, type ACL } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { readWatched } from '../node/read-with-watch.ts'
import type { LockQueue } from '../queue/lock-queue.ts'
import { isLife } from './ticket.ts'

/** The life of each lock that a session has used last, by the lock's path at the server. */
const sessions = new WeakMap<object, Map<string, string>>()
/** The largest number of lives that are kept for one session. */
const MOST_LIVES = 1000

/** What the server returned for a lock's node. */
interface LockNode {
  readonly named: string | undefined
  readonly version: number
  readonly children: readonly string[]
}

/**
 * Finds and begins the lives of one lock. At any time the lock's node has at most one life's directory, and its data
 * names that life.
 *
 * A directory is created only in a transaction that also makes the data name it, and only under a name that is new.
 * That transaction succeeds only if no other life exists: it creates the lock's node too, or deletes the directory of
 * the last life, which must be empty. If that directory is missing, the transaction requires the version of the data at
 * which no directory existed. But another client may delete the lock's node and create it again, with the same version.
 * So the transaction also deletes a node that this client has created below the lock's node before it read the version.
 */
export class TicketLives {
  readonly #client: Client
  readonly #path: string
  readonly #acl: readonly ACL[] | undefined
  /** The children of the lock's node. */
  readonly #queue: LockQueue

  constructor(queue: LockQueue) {
    this.#client = queue.client
    this.#path = queue.directory
    this.#acl = queue.acl
    this.#queue = queue
  }

  directoryOf(life: string): string {
    return join(this.#path, life)
  }

  /** Returns the life that the session knows. It may have ended: then creating a ticket in it rejects with NONODE. */
  get known(): string | undefined {
    return sessions.get(sessionKey(this.#client))?.get(this.#key)
  }

  /** Returns the present life if the lock has one. Writes nothing. */
  async present(signal: AbortSignal): Promise<string | undefined> {
    const node = await this.#read(signal)
    return node && lifeIn(node)
  }

  /** Finds the present life, or begins one if there is none. */
  async find(signal: AbortSignal): Promise<string> {
    const pace = newPace(this.#client)
    for (;;) {
      try {
        return this.#remember(await this.#client.retry(() => this.#findOrBegin(signal), { signal }))
      } catch (error) {
        // Another client was faster, or the parent of the lock's node is missing.
        if (isCode(error, 'NONODE')) await this.#ensureParent(signal)
        else if (!isCode(error, 'NODEEXISTS', 'BADVERSION')) throw error
      }
      await pace.wait(signal)
    }
  }

  /** Ends a life whose numbers are used up, and begins the next one. Returns false while it has tickets. */
  async replace(life: string): Promise<boolean> {
    const next = newUuid(this.#client)
    try {
      // Deletes the directory too, because otherwise a holder in it would hold the lock together with the next one.
      await this.#client.multi([{ delete: this.directoryOf(life) }, ...this.#beginning(next)])
    } catch (error) {
      if (isCode(error, 'NOTEMPTY')) return false
      // Another client has ended this life.
      if (!isCode(error, 'NONODE')) throw error
    }
    return true
  }

  /** Waits until a life has no tickets, and replaces it. */
  async replaceWhenEmpty(life: string, signal: AbortSignal): Promise<void> {
    const pace = newPace(this.#client)
    while (!(await this.#client.retry(() => this.replace(life), { signal }))) {
      await this.#client.retry(() => this.#nextChange(life, signal), { signal })
      await pace.wait(signal)
    }
  }

  async #nextChange(life: string, signal: AbortSignal): Promise<void> {
    const reading = readWatched(signal, options => this.#client.getChildren(this.directoryOf(life), options))
    const read = await unlessRefused(reading, 'NONODE')
    if (read !== undefined && read.value.children.length > 0) await read.changed
  }

  async #findOrBegin(signal: AbortSignal): Promise<string> {
    const node = await this.#read(signal)
    if (node !== undefined) return (await this.#enter(node)) ?? this.#begin(signal)
    const life = newUuid(this.#client)
    const acl = this.#acl
    await this.#client.multi([
      { create: this.#path, data: life, acl },
      { create: this.directoryOf(life), acl },
    ])
    return life
  }

  /** Returns the life that has a directory, and makes the data name it. */
  async #enter(node: LockNode): Promise<string | undefined> {
    const life = lifeIn(node)
    if (life !== undefined && life !== node.named)
      await this.#client.multi([{ check: this.directoryOf(life) }, { setData: this.#path, data: life }])
    return life
  }

  /** Begins a life in a lock's node that exists. */
  async #begin(signal: AbortSignal): Promise<string> {
    const client = this.#client
    const claim = join(this.#path, `claim-${newUuid(client)}`)
    const removeClaim = () =>
      inBackground(
        client,
        retryUntilDone(client, () => client.delete(claim)),
      )
    try {
      await client.create(claim, '', { mode: 'ephemeral' })
      const node = await this.#read(signal)
      let life = node && (await this.#enter(node))
      if (life === undefined) {
        life = newUuid(client)
        await client.multi([{ delete: claim }, ...this.#beginning(life, node?.version)])
      } else removeClaim()
      return life
    } catch (error) {
      removeClaim()
      throw error
    }
  }

  #beginning(life: string, version = -1) {
    return [
      { setData: this.#path, data: life, version },
      { create: this.directoryOf(life), acl: this.#acl },
    ] as const
  }

  /** Returns undefined if the lock's node does not exist. */
  async #read(signal: AbortSignal): Promise<LockNode | undefined> {
    // The order matters: a directory that is created after the data was read changes the data's version.
    const [node, { children }] = await Promise.all([
      unlessRefused(this.#client.getData(this.#path, { signal }), 'NONODE'),
      this.#queue.list({ signal }),
    ])
    return node && { named: node.data?.toString(), version: node.stat.version, children }
  }

  async #ensureParent(signal: AbortSignal): Promise<void> {
    const path = this.#path === '/' ? '/' : parentOf(this.#path)
    await ensureDirectory(this.#client, path, { mode: 'persistent', signal })
  }

  get #key(): string {
    return serverPath(this.#client, this.#path)
  }

  #remember(life: string): string {
    const lives = sessions.get(sessionKey(this.#client)) ?? new Map<string, string>()
    sessions.set(sessionKey(this.#client), lives)
    lives.delete(this.#key)
    const [oldest] = lives.keys()
    if (lives.size >= MOST_LIVES && oldest !== undefined) lives.delete(oldest)
    lives.set(this.#key, life)
    return life
  }
}

const lifeIn = ({ named, children }: LockNode): string | undefined =>
  children.find(name => name === named && isLife(name)) ?? children.find(isLife)
