// Leases that end at a time of day, with the nodes of kazoo's NonBlockingLease and MultiNonBlockingLease.
import { anACL, clockOf, copyOfACL, newPace, unlessRefused } from '../../client/recipe-support.ts'
import { isCode, join, MultiError, type ACL } from '../../protocol/index.ts'
import { aPositiveInteger, mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { cancellable, type WaitOptions } from '../call/cancellable.ts'
import { RecipeError } from '../call/recipe-error.ts'
import type { Held } from '../locks/held.ts'
import { Mutex } from '../locks/mutex.ts'
import { ensureDirectory } from '../node/ensure-directory.ts'
import { decodeLease, encodeLease, endAfter, isFree, type LeaseRecord } from './lease-record.ts'

/**
 * Options of a {@link Lease}.
 * @example
 * const options: LeaseOptions = { id: 'host-1', duration: 60_000, count: 2 }
 * const term = await new Lease(zk, '/leases/report', options).tryAcquire()
 * term !== null // => true
 */
export interface LeaseOptions {
  /**
   * Says who the holder is; not empty. Callers with the same id are one holder, which can renew the lease, also after
   * a restart.
   */
  id: string
  /** How long the lease lasts, in milliseconds, from 1000 to 100 years. Its end is rounded down to a second. */
  duration: number
  /**
   * How many holders there may be, 1 or more. Each has one of the leases `path/0`, `path/1`, … (kazoo's
   * MultiNonBlockingLease). Default: one lease, at the path itself (kazoo's NonBlockingLease).
   */
  count?: number | undefined
  /** The ACL of all nodes that are created, except missing nodes above the path. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
}

/**
 * A lease that was acquired.
 * @example
 * const term: LeaseTerm | null = await new Lease(zk, '/leases/report', { id: 'host-1', duration: 60_000 }).tryAcquire()
 * term && term.end > Date.now() // => true
 */
export interface LeaseTerm {
  /** The path of the lease: that of the {@link Lease}, or with `count` one below it. */
  path: string
  /** When the lease ends, in milliseconds since 1970. Other holders compare it with their own clocks. */
  end: number
}

const LONGEST = 100 * 365 * 24 * 3600 * 1000

const leaseChecks: Checks<LeaseOptions> = {
  id: mustBe('a string that is not empty', value => typeof value === 'string' && value !== ''),
  duration: mustBe(
    `a number of milliseconds from 1000 to ${LONGEST}`,
    (value: unknown) => typeof value === 'number' && value >= 1000 && value <= LONGEST,
  ),
  count: aPositiveInteger,
  acl: anACL,
}

/**
 * A lease: one holder has it until its end, whether the holder's process and session live or not. A job that must run
 * on one machine stays there, and moves when the machine has not renewed the lease in time.
 *
 * The end is a time of day by the clock of the holder, and the others compare it with their clocks. If the clocks
 * differ by 5 s, two holders may have the lease for 5 s. Use a lock if that does harm.
 * @example
 * const duration = 70 * 60_000
 * const term = await new Lease(zk, '/leases/report', { id: 'host-1', duration }).tryAcquire()
 * term?.path // => '/leases/report'
 * await new Lease(zk, '/leases/report', { id: 'host-2', duration }).tryAcquire() // => null
 */
export class Lease implements AsyncDisposable {
  /** The path of the lease. Its holder has the node `lease_holder` below; with `count`, each holder has a node. */
  readonly path: string
  readonly #client: Client
  readonly #options: LeaseOptions

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: LeaseOptions) {
    const isMissing = (name: keyof LeaseOptions) => (options as Partial<LeaseOptions>)[name] === undefined
    const missing = () => (['id', 'duration'] as const).find(isMissing)
    const problem = optionsProblem(options, leaseChecks) ?? (missing() && `the option ${missing()} is missing`)
    checkArguments('Lease', client, path, problem)
    this.path = path
    this.#client = client.chroot('/')
    this.#options = { ...options, acl: copyOfACL(options.acl) }
  }

  /**
   * Acquires the lease, or renews it if this holder has it. Resolves with null if another holder has it, and does not
   * wait for its end. Waits through lost connections, and while another client reads or writes the lease. If the call
   * is cancelled, the lease may be acquired nevertheless.
   * @throws RecipeError TIMEOUT; RecipeError UNSUPPORTED if the node contains no lease of kazoo; RecipeError LOST if
   * another client deleted the node of the lock that protects the lease; the signal's reason; ZooKeeperError, for
   * example BADARGUMENTS, NOAUTH, SESSIONEXPIRED
   * @example
   * const lease = new Lease(zk, '/leases/report', { id: 'host-1', duration: 60_000 })
   * const term = await lease.tryAcquire()
   * term !== null && term.end > Date.now() // => true
   */
  tryAcquire(options: WaitOptions = {}): Promise<LeaseTerm | null> {
    return this.#run('tryAcquire', options, async signal => {
      for (const path of await this.#ownFirst(signal)) {
        const term = await this.#locked(path, signal, held => this.#renew(path, held, signal))
        if (term !== null) return term
      }
      return null
    })
  }

  /**
   * Ends the lease of this holder at once, so that another one can acquire it. Does nothing if this holder has none.
   * Throws as {@link tryAcquire}.
   * @example
   * const duration = 60_000
   * const lease = new Lease(zk, '/leases/report', { id: 'host-1', duration })
   * await lease.tryAcquire()
   * await lease.release()
   * const term = await new Lease(other, '/leases/report', { id: 'host-2', duration }).tryAcquire()
   * term !== null // => true
   */
  release(options: WaitOptions = {}): Promise<void> {
    return this.#run('release', options, async signal => {
      const paths = this.#paths
      const records = await this.#readSynced(paths, signal)
      for (const [i, path] of paths.entries())
        if (records[i]?.holder === this.#options.id)
          await this.#locked(path, signal, held => this.#remove(path, held, signal))
    })
  }

  /** Calls {@link release}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  get #paths(): string[] {
    const { count } = this.#options
    return count === undefined ? [this.path] : Array.from({ length: count }, (_, i) => join(this.path, String(i)))
  }

  /**
   * Returns the paths of all leases, first the one that this holder has. Otherwise a renewal could take a second one.
   */
  async #ownFirst(signal: AbortSignal): Promise<string[]> {
    const paths = this.#paths
    if (paths.length === 1) return paths
    const records = await this.#readSynced(paths, signal)
    const now = clockOf(this.#client).wallNow()
    const own = records.findIndex(record => record?.holder === this.#options.id && now < record.end)
    return own < 0 ? paths : [...paths.splice(own, 1), ...paths]
  }

  /**
   * Reads all leases behind a sync. Otherwise a server that lags behind would make a holder that has restarted take a
   * second lease, or keep one that it releases.
   */
  #readSynced(paths: readonly string[], signal: AbortSignal): Promise<(LeaseRecord | undefined)[]> {
    const read = async () => {
      const [, ...records] = await Promise.all([
        this.#client.sync(this.path, { signal }),
        ...paths.map(path => this.#read(path, signal)),
      ])
      return records
    }
    return this.#client.retry(read, { signal })
  }

  /** Runs a task under kazoo's lock of the lease. */
  async #locked<T>(path: string, signal: AbortSignal, task: (held: Held) => Promise<T>): Promise<T> {
    const { id, acl } = this.#options
    // The lock gives its ACL to the lease, and not to the node above.
    const above = { mode: 'container', acl, signal } as const
    if (acl !== undefined && path !== this.path)
      await this.#client.retry(() => ensureDirectory(this.#client, this.path, above), { signal })
    const mutex = new Mutex(this.#client, path, { dialect: 'kazoo', id, acl })
    const held = await mutex.acquire({ signal })
    try {
      return await this.#client.retry(() => task(held), { signal })
    } catch (error) {
      const isLost = error instanceof MultiError && isCode(error, 'NONODE') && error.path === held.path
      throw isLost ? new RecipeError('LOST', path, { cause: error }) : error
    } finally {
      await held.release()
    }
  }

  /** May be executed twice, because the second time it renews the lease. */
  async #renew(path: string, held: Held, signal: AbortSignal, pace = newPace(this.#client)): Promise<LeaseTerm | null> {
    const { id, duration, acl } = this.#options
    const record = await this.#read(path, signal)
    const now = clockOf(this.#client).wallNow()
    if (record !== undefined && !isFree(record, id, now)) return null
    const end = endAfter(now, duration)
    const [node, data] = [holderNode(path), encodeLease({ holder: id, end })]
    const transaction = held.guard()
    if (record === undefined) transaction.create(node, data, { acl })
    else transaction.setData(node, data)
    if (await isWritten(node, transaction.commit({ signal }))) return { path, end }
    await pace.wait(signal)
    return this.#renew(path, held, signal, pace)
  }

  async #remove(path: string, held: Held, signal: AbortSignal): Promise<void> {
    if ((await this.#read(path, signal))?.holder !== this.#options.id) return
    const node = holderNode(path)
    await isWritten(node, held.guard().delete(node).commit({ signal }))
  }

  /** Returns undefined if there is no lease. A lease of a newer version never ends, as in kazoo. */
  async #read(path: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const node = await unlessRefused(this.#client.getData(holderNode(path), { signal }), 'NONODE')
    if (node === undefined) return undefined
    const record = decodeLease(String(node.data))
    if (record === 'newer') return { holder: '', end: Infinity }
    if (record !== undefined) return record
    const detail = `the data of ${holderNode(path)} is no lease of kazoo: delete the node, or use another path`
    throw new RecipeError('UNSUPPORTED', path, { detail })
  }

  #run<T>(op: string, options: WaitOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // The lock is released by the work itself, also after the call was cancelled.
    return cancellable(this.#client, { op, path: this.path, options }, work)
  }
}

/** Resolves with false if a client that does not take the lock has created or deleted the node since it was read. */
async function isWritten(node: string, commit: Promise<unknown>): Promise<boolean> {
  try {
    await commit
    return true
  } catch (error) {
    if (error instanceof MultiError && isCode(error, 'NONODE', 'NODEEXISTS') && error.path === node) return false
    throw error
  }
}

const holderNode = (path: string): string => join(path, 'lease_holder')
