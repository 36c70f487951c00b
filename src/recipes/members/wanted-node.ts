// The node that a PersistentEphemeral wants to be there, and the calls that create, find and remove it.
import { copyOf, copyOfACL, newPace, newUuid, unlessRefused } from '../../client/recipe-support.ts'
import { isCode, join, nameOf, parentOf, type ACL, type Stat } from '../../protocol/index.ts'
import { Condition } from '../../runtime/condition.ts'
import type { Client, Data } from '../../client/index.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { readWatched, type WatchedRead } from '../node/read-with-watch.ts'

export const nodeModes = ['ephemeral', 'ephemeralSequential', 'persistent', 'persistentTTL'] as const
export type NodeMode = (typeof nodeModes)[number]

export type NodeRead = WatchedRead<{ data: Buffer | null; stat: Stat }>

export class WantedNode {
  readonly mode: NodeMode
  readonly ttl: number | undefined
  readonly #acl: readonly ACL[] | undefined
  readonly #wantedPath: string
  /** The path of the node; undefined before the first create in a sequential mode. */
  #path: string | undefined
  #uuid: string | undefined
  #data: Data
  /** The number of calls of {@link setData}. */
  #version = 0
  readonly #changed = new Condition()

  constructor(
    path: string,
    { data, mode, ttl, acl }: { data: Data; mode: NodeMode; ttl: number | undefined; acl: readonly ACL[] | undefined },
  ) {
    this.mode = mode
    this.ttl = ttl
    this.#acl = copyOfACL(acl)
    this.#wantedPath = path
    this.#data = copyOf(data)
    if (mode !== 'ephemeralSequential') this.#path = path
  }

  get path(): string {
    return this.#path ?? this.#wantedPath
  }

  get data(): Data {
    return this.#data
  }

  get version(): number {
    return this.#version
  }

  /** Resolves at the next call of {@link setData}; rejects with the signal's reason. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#changed.wait(signal)
  }

  get isEphemeral(): boolean {
    return this.mode.startsWith('ephemeral')
  }

  setData(data: Data): void {
    this.#data = copyOf(data)
    this.#version++
    this.#changed.notify()
  }

  /** Returns true if the node belongs to this session, or to no session if it is not ephemeral. */
  isOurs(client: Client, { ephemeralOwner }: Stat): boolean {
    return ephemeralOwner === (this.isEphemeral ? client.sessionId : 0n)
  }

  hasData(bytes: Buffer | null): boolean {
    const data = this.#data
    if (bytes === null || data === null) return bytes === data
    return bytes.equals(typeof data === 'string' ? Buffer.from(data) : data)
  }

  /**
   * Returns true if the node may exist already. In a sequential mode, creates it first, or finds the one that a create
   * without a reply has made.
   */
  async prepare(client: Client, signal: AbortSignal): Promise<boolean> {
    if (this.#path !== undefined) return this.mode === 'ephemeralSequential'
    this.#path = await this.#findSequential(client)
    if (this.#path !== undefined) return true
    const uuid = (this.#uuid ??= newUuid(client))
    const path = join(parentOf(this.#wantedPath), this.#prefixWith(uuid))
    for (const pace = newPace(client); ;) {
      await this.#ensureParent(client, signal)
      const { data, ...options } = this.#content()
      const creating = client.create(path, data, { ...options, mode: 'ephemeralSequential' })
      // The server may have deleted the parent meanwhile, because it is an empty container.
      this.#path = (await unlessRefused(creating, 'NONODE'))?.path
      if (this.#path !== undefined) return true
      await pace.wait(signal)
    }
  }

  /** Creates the node unless it exists, and reads it in the same turn. Returns undefined if it was deleted meanwhile. */
  async create(client: Client, signal: AbortSignal): Promise<NodeRead | undefined> {
    const { data, ...options } = this.#content()
    const creating = client.create(this.path, data, options)
    const [creation, reading] = await Promise.allSettled([creating, this.read(client, signal)])
    if (creation.status === 'rejected') {
      if (isCode(creation.reason, 'NONODE')) {
        await this.#ensureParent(client, signal)
        return undefined
      }
      if (!isCode(creation.reason, 'NODEEXISTS')) throw creation.reason
    }
    if (reading.status === 'rejected') throw reading.reason
    return reading.value
  }

  /** Reads and watches the node. Returns undefined if it does not exist. */
  async read(client: Client, signal: AbortSignal): Promise<NodeRead | undefined> {
    return unlessChanged(readWatched(signal, options => client.getData(this.path, options)))
  }

  /** Replaces another session's node in one transaction, unless it has changed since it was read. */
  async replace(client: Client, { version }: Stat): Promise<void> {
    await unlessChanged(
      client.multi([
        { delete: this.path, version },
        { create: this.path, ...this.#content() },
      ]),
    )
  }

  /** Writes the data, unless the node has changed since it was read. */
  async write(client: Client, { version }: Stat): Promise<void> {
    await unlessChanged(client.setData(this.path, this.#data, { version }))
  }

  /**
   * Writes the child that keeps a node with a TTL, as Curator's PersistentTtlNode does. Watchers of the node itself are
   * not notified.
   */
  async touch(client: Client, ttl: number): Promise<void> {
    const child = touchOf(this.path)
    if ((await unlessChanged(client.setData(child, ''))) !== undefined) return
    const acl = this.#acl
    await unlessChanged(client.create(child, '', { mode: 'persistentTTL', ttl, acl }))
  }

  /**
   * Deletes the node, if it belongs to this session. Another call may follow if the connection is lost.
   * @param isKept returns true if the node must stay, because another recipe of this session keeps it now
   */
  async remove(client: Client, isKept: () => boolean): Promise<void> {
    const path = this.#path ?? (await this.#findSequential(client))
    if (path === undefined) return
    if (this.ttl !== undefined && !isKept()) await unlessChanged(client.delete(touchOf(path)))
    for (;;) {
      const [, stat] = await Promise.all([client.sync(path), client.exists(path)])
      if (stat === null || !this.isOurs(client, stat) || isKept()) return
      try {
        // Another process can replace the node at this moment. It then creates its node again.
        await client.delete(path, { version: stat.version })
        return
      } catch (error) {
        if (isCode(error, 'NONODE') || (!this.isEphemeral && isCode(error, 'NOTEMPTY'))) return
        if (!isCode(error, 'BADVERSION')) throw error
      }
    }
  }

  async #findSequential(client: Client): Promise<string | undefined> {
    if (this.#uuid === undefined) return undefined
    const parent = parentOf(this.#wantedPath)
    const prefix = this.#prefixWith(this.#uuid)
    const [, list] = await Promise.all([client.sync(parent), unlessChanged(client.getChildren(parent))])
    const name = list?.children.find(each => each.startsWith(prefix))
    return name && join(parent, name)
  }

  /** Returns the name that Curator gives to a node with protection, without the number. */
  #prefixWith(uuid: string): string {
    return `_c_${uuid}-${nameOf(this.#wantedPath)}`
  }

  #ensureParent(client: Client, signal: AbortSignal): Promise<void> {
    return ensureDirectory(client, parentOf(this.path), { mode: 'container', acl: this.#acl, signal })
  }

  /** The arguments of the create. After the first create, a sequential node keeps its name. */
  #content() {
    const { mode, ttl } = this
    const acl = this.#acl
    const plainMode = mode === 'ephemeralSequential' ? 'ephemeral' : mode
    return { data: this.#data, mode: plainMode, acl, ttl }
  }
}

const touchOf = (path: string): string => join(path, 'touch')

/** Returns undefined if another client has created, changed or deleted the node. */
const unlessChanged = <T>(call: Promise<T>): Promise<T | undefined> =>
  unlessRefused(call, 'NONODE', 'NODEEXISTS', 'BADVERSION')
