// Recipes beside locks. This file: barriers, with Curator's nodes. Many wait for one, or for each other.
// May import: recipes/locks, recipes/queue, recipes/node, client/index.ts, client/recipe-support.ts, protocol.
import { inBackground, newUuid } from '../../client/recipe-support.ts'
import { badArguments, isCode, join, nameOf, pathProblem, type ACL, type Stat } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { cancellable, type WaitOptions } from '../node/cancellable.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { OwnNode, type NodeFactory } from '../node/own-node.ts'
import { nextChange, readWatched } from '../node/read-with-watch.ts'

export interface BarrierOptions {
  /** Of the nodes that are made, but for what is missing above the barrier's own. Default: the world may do anything. */
  acl?: readonly ACL[]
}

/** A node that is in the way of everybody who waits: Curator's DistributedBarrier. */
export class Barrier {
  readonly path: string
  readonly #client: Client
  readonly #acl: readonly ACL[] | undefined

  constructor(client: Client, path: string, { acl }: BarrierOptions = {}) {
    this.path = path
    this.#client = client.chroot('/')
    this.#acl = acl
  }

  /** Raises the barrier, which outlives its maker. One that is up already is no error. */
  async raise(): Promise<void> {
    await ensureDirectory(this.#client, this.path, { mode: 'persistent', acl: this.#acl })
  }

  /** Lowers it, and lets everybody go who waits. One that is down already is no error. */
  async lower(): Promise<void> {
    try {
      await this.#client.retry(() => this.#client.delete(this.path))
    } catch (error) {
      ignoring('NONODE')(error)
    }
  }

  /**
   * Resolves when the barrier is down, at once if it is.
   * @throws LockError TIMEOUT; the signal's reason; ZooKeeperError
   */
  wait(options: WaitOptions = {}): Promise<void> {
    return attempting(this.#client, this.path, options, async signal => {
      while (await this.#client.retry(() => nextChange(this.#client, this.path, signal), { signal }));
    })
  }
}

/**
 * A barrier at both ends of a piece of work: `count` members enter together, and all leave together. Curator's DistributedDoubleBarrier,
 * which it can be shared with. An object is one member, for one passage after another.
 */
export class DoubleBarrier {
  readonly path: string
  readonly memberCount: number
  readonly #client: Client
  readonly #acl: readonly ACL[] | undefined
  #member: OwnNode | undefined

  /**
   * @param count how many have to be there, 1 or more; the same for all
   * @throws ZooKeeperError BADARGUMENTS
   */
  constructor(client: Client, path: string, count: number, { acl }: BarrierOptions = {}) {
    const isNumber = Number.isSafeInteger(count) && count >= 1
    const problem = pathProblem(path) ?? (isNumber ? undefined : `a count is an integer of at least 1, not ${count}`)
    if (problem !== undefined) throw refuse(path, problem)
    this.path = path
    this.memberCount = count
    this.#client = client.chroot('/')
    this.#acl = acl
  }

  /**
   * Resolves when `count` members have entered. One whose call fails is not counted any more.
   * @throws ZooKeeperError BADARGUMENTS where it is inside already; LockError TIMEOUT; the signal's reason
   */
  async enter(options: WaitOptions = {}): Promise<void> {
    if (this.#member !== undefined) throw refuse(this.path, 'it has entered already')
    const member = (this.#member = new OwnNode(this.#spot()))
    try {
      await attempting(this.#client, this.path, options, async signal => {
        await member.create(nothing, signal)
        while (!(await this.#client.retry(() => this.#isReady(member, signal), { signal })));
      })
    } catch (error) {
      this.#member = undefined
      inBackground(this.#client, member.remove())
      throw error
    }
  }

  /**
   * Resolves when all who were inside have left. One whose call fails has left nevertheless.
   * @throws ZooKeeperError BADARGUMENTS where it is not inside; LockError TIMEOUT; the signal's reason
   */
  async leave(options: WaitOptions = {}): Promise<void> {
    const member = this.#member
    if (member === undefined) throw refuse(this.path, 'it has not entered')
    this.#member = undefined
    try {
      await attempting(this.#client, this.path, options, async signal => {
        // Who enters for the next passage meanwhile is not waited for.
        const inside = new Set(await this.#client.retry(() => this.#members(signal), { signal }))
        while (!(await this.#client.retry(() => this.#isLeft(member, inside, signal), { signal })));
        // Whoever comes last takes it away, and nobody minds who that is.
        await this.#close()
      })
    } catch (error) {
      inBackground(this.#client, this.#leaveAlone(member))
      throw error
    }
  }

  /** False after a wake-up, which is a hint: look again. Somebody may delete the own node too, and the others would wait for ever. */
  async #isReady(member: OwnNode, signal: AbortSignal): Promise<boolean> {
    const [ready, own, members] = await Promise.all([
      readWatched(signal, options => this.#client.exists(this.#ready, options)),
      readWatched(signal, options => this.#client.exists(member.node.path, options)),
      this.#members(signal),
    ])
    if (ready.value !== null && (await this.#isOpen(ready.value, member, members, signal))) return true
    if (own.value === null) await member.create(nothing, signal)
    else if (members.length < this.memberCount) await Promise.race([ready.changed, own.changed])
    else await this.#open(ready.value)
    return false
  }

  /** Whose members have all died inside leave it `ready`, older than whoever is there now. */
  async #isOpen({ mzxid }: Stat, member: OwnNode, members: string[], signal: AbortSignal): Promise<boolean> {
    if (member.node.czxid < mzxid) return true
    const all = await Promise.all(members.map(name => this.#client.exists(join(this.path, name), { signal })))
    return all.some(stat => stat !== null && stat.czxid < mzxid)
  }

  /** What others left is written anew and not deleted: that might hit what somebody has just opened with. */
  async #open(left: Stat | null): Promise<void> {
    const opening =
      left === null ? this.#client.create(this.#ready, '', this.#withAcl) : this.#client.setData(this.#ready, '')
    await opening.then(nothing, ignoring('NODEEXISTS', 'NONODE'))
  }

  #close(): Promise<void> {
    return this.#client.retry(() => this.#client.delete(this.#ready)).catch(ignoring('NONODE'))
  }

  async #leaveAlone(member: OwnNode): Promise<void> {
    await member.remove()
    if ((await this.#client.retry(() => this.#members())).length === 0) await this.#close()
  }

  /** False after a wake-up: look again. */
  async #isLeft(member: OwnNode, inside: ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
    const left = (await this.#members(signal)).filter(name => inside.has(name))
    const { goes, behind } = leaving(left, member.exists ? member.node.name : undefined)
    if (goes) await member.remove()
    if (behind === undefined) return true
    await nextChange(this.#client, join(this.path, behind), signal)
    return false
  }

  get #ready(): string {
    return join(this.path, 'ready')
  }

  get #withAcl(): { acl?: readonly ACL[] } {
    return this.#acl === undefined ? {} : { acl: this.#acl }
  }

  /** None where the directory is gone: a container that is empty goes. */
  async #members(signal?: AbortSignal): Promise<string[]> {
    try {
      const { children } = await this.#client.getChildren(this.path, signal && { signal })
      return children.filter(name => name !== nameOf(this.#ready))
    } catch (error) {
      ignoring('NONODE')(error)
      return []
    }
  }

  #spot(): NodeFactory {
    const client = this.#client
    const path = join(this.path, newUuid(client))
    return {
      client,
      isUnique: true,
      create: () => client.create(path, '', { mode: 'ephemeral', ...this.#withAcl }),
      find: async () => {
        const [, stat] = await Promise.all([client.sync(path), client.exists(path)])
        return stat === null ? undefined : { path, stat }
      },
      ensureParent: signal => ensureDirectory(client, this.path, { mode: 'container', acl: this.#acl, signal }),
    }
  }
}

/**
 * How a member leaves, by the names of those that are still inside: the lowest stays to the last and waits for the highest; each other
 * goes first and waits for the lowest. So nobody wakes a herd.
 */
export function leaving(
  inside: readonly string[],
  own: string | undefined,
): { goes: boolean; behind: string | undefined } {
  const [lowest, ...others] = [...inside].sort()
  return lowest === own ? { goes: others.length === 0, behind: others.at(-1) } : { goes: true, behind: lowest }
}

/** Leaves nothing but watches, which its signal takes back. */
const attempting = <T>(
  client: Client,
  path: string,
  options: WaitOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => cancellable(client, path, options, work, done => done.then(nothing, nothing))

const nothing = () => Promise.resolve()

function ignoring(...codes: ('NONODE' | 'NODEEXISTS')[]): (error: unknown) => void {
  return error => {
    if (!isCode(error, ...codes)) throw error
  }
}

const refuse = (path: string, detail: string) => badArguments('DoubleBarrier', path, detail)
