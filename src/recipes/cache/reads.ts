// The reads of one cache. Few requests are in flight at once, and one request reads many nodes if the server knows
// multiRead. A node that changes again and again while it is read is read only once more.
import { isCode, ZooKeeperError, type Stat } from '../../protocol/index.ts'
import type { ReadOp, WatchCallback } from '../../client/index.ts'
import { maxReplyBytesOf } from '../../client/recipe-support.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import type { Keeper } from './keeper.ts'

/** What a read asks for: `data` and the Stat of a node, or the names of its `children`. */
export type ReadKind = 'data' | 'children'

export type ReadOutcome = { data: Buffer | null; stat: Stat } | { children: string[] } | ZooKeeperError

export interface ReadJob {
  readonly kind: ReadKind
  readonly path: string
  /** True if the cache is not complete before this read is done. */
  isLoad: boolean
  isSent: boolean
  /** Set if the node may have changed after this read was sent. It is then read once more. */
  again: { isLoad: boolean } | undefined
}

/** The most requests in flight. A request that sets watches reads one node only, so there may be more of those. */
const REQUESTS = 8
const WATCHING_REQUESTS = 256
/** The most reads in one request. */
const LARGEST_BATCH = 128
/** About how many bytes a reply should have, unless that is more than a quarter of what the client accepts. */
const REPLY_BYTES = 128 * 1024
/** Fewer reads than this show nothing of the size of the other nodes, unless no request has more. */
const TELLING_BATCH = 16
/** About how many bytes of a reply a Stat and a header need. */
const OVERHEAD = 100

/**
 * The connection was lost before the reply of a request for several nodes, perhaps because the reply took too long. Fewer
 * are then read at once.
 */
const LOST = new Error('the connection was lost')

interface Reply {
  readonly jobs: readonly ReadJob[]
  readonly outcomes: readonly ReadOutcome[]
}

export class Reads {
  readonly #keeper: Keeper
  /** All jobs that are queued or sent, by path. */
  readonly #jobs: Readonly<Record<ReadKind, Map<string, ReadJob>>> = { data: new Map(), children: new Map() }
  #queue: ReadJob[] = []
  /** Index of the first job that is not sent. */
  #first = 0
  #inFlight = 0
  #replies: Reply[] = []
  #isRunning = false
  /** The number of jobs, present and to follow, with `isLoad`. */
  #loading = 0
  #watch: WatchCallback | undefined
  /** Begins with one, because nothing is known of the size of the nodes, and the line may be slow. */
  #batch = 1
  readonly #replyBytes: number
  /**
   * The reads that are sent alone, because the reply was too large when they were sent with others. Such a reply closes
   * the connection, and then all nodes are read again. So what has made it too large is never sent with others again.
   */
  readonly #alone: Readonly<Record<ReadKind, Set<string>>> = { data: new Set(), children: new Set() }
  /** True if the server reads only one node in a request, or each read sets a watch. */
  #readsOne = false

  constructor(keeper: Keeper) {
    this.#keeper = keeper
    this.#replyBytes = Math.min(REPLY_BYTES, maxReplyBytesOf(keeper.client) / 4)
  }

  /** Makes all later reads set one-shot watches. */
  setWatch(watch: WatchCallback): void {
    this.#watch = watch
    this.#readsOne = true
  }

  get isLoading(): boolean {
    return this.#loading > 0
  }

  /** True if a read of the node is queued or under way. */
  isPending(path: string): boolean {
    return this.#jobs.data.has(path)
  }

  /** True if the reply to a read of the node is not applied yet. It may be older than events that were handled since. */
  isUnderWay(path: string): boolean {
    return this.#jobs.data.get(path)?.isSent === true
  }

  /** Makes sure that a read is sent after this call. */
  add(kind: ReadKind, path: string, isLoad: boolean): void {
    const known = this.#jobs[kind].get(path)
    if (known === undefined) {
      const job: ReadJob = { kind, path, isLoad, isSent: false, again: undefined }
      this.#jobs[kind].set(path, job)
      this.#queue.push(job)
      if (isLoad) this.#loading++
    } else {
      const next = known.isSent ? (known.again ??= { isLoad: false }) : known
      if (isLoad && !next.isLoad) this.#loading++
      next.isLoad ||= isLoad
    }
    this.#wake()
  }

  #wake(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#run().catch((error: unknown) => this.#keeper.fail(error))
  }

  /** Applies the replies, and sends the jobs. */
  async #run(): Promise<void> {
    do {
      // The callbacks of all events that were received run first. So no event is late, and their reads are sent together.
      await Promise.resolve()
      for (const { jobs, outcomes } of this.#replies.splice(0))
        for (const [i, job] of jobs.entries()) this.#finish(job, outcomes[i] as ReadOutcome)
      if (this.#keeper.signal.aborted) return
      this.#send()
    } while (this.#replies.length > 0)
    this.#isRunning = false
  }

  #finish(job: ReadJob, outcome: ReadOutcome): void {
    const { kind, path, isLoad } = job
    if (this.#keeper.signal.aborted) return
    // As many nodes of this size as one request can read do not fill a reply.
    if (bytesOf(outcome) * LARGEST_BATCH <= this.#replyBytes) this.#alone[kind].delete(path)
    this.#keeper.apply(job, outcome)
    this.#jobs[kind].delete(path)
    const { again } = job
    if (again !== undefined) {
      this.add(kind, path, again.isLoad)
      if (again.isLoad) this.#loading--
    }
    if (isLoad && --this.#loading === 0) this.#keeper.onLoaded()
  }

  #send(): void {
    const most = this.#watch === undefined ? REQUESTS : WATCHING_REQUESTS
    while (this.#inFlight < most && this.#first < this.#queue.length) {
      const jobs = this.#nextJobs()
      this.#first += jobs.length
      if (this.#first * 2 > this.#queue.length) {
        this.#queue = this.#queue.slice(this.#first)
        this.#first = 0
      }
      for (const job of jobs) job.isSent = true
      this.#inFlight++
      this.#request(jobs).catch((error: unknown) => this.#keeper.fail(error))
    }
  }

  /** Returns the jobs of the next request: at least one. */
  #nextJobs(): ReadJob[] {
    const jobs = this.#queue.slice(this.#first, this.#first + (this.#readsOne ? 1 : this.#batch))
    const end = jobs.findIndex(({ kind, path }) => this.#alone[kind].has(path))
    return end === -1 ? jobs : jobs.slice(0, Math.max(1, end))
  }

  async #request(jobs: readonly ReadJob[]): Promise<void> {
    const { client, signal } = this.#keeper
    const [job] = jobs as readonly [ReadJob]
    let attempts = 0
    try {
      const read = () => {
        if (jobs.length === 1) return this.#readOne(job).then(one => [one])
        if (attempts++ > 0) throw LOST
        return client.multiRead(jobs.map(readOpOf))
      }
      const outcomes = (await retryUntilDone<ReadOutcome[]>(client, read, { signal })) satisfies ReadOutcome[]
      this.#adapt(jobs, outcomes)
      this.#replies.push({ jobs, outcomes })
    } catch (error) {
      if (error === LOST) this.#repeat(jobs, jobs.length >> 1)
      else if (jobs.length > 1 && isCode(error, 'REPLYTOOLARGE', 'REQUESTTOOLARGE', 'UNIMPLEMENTED')) {
        if (isCode(error, 'UNIMPLEMENTED')) this.#readsOne = true
        this.#repeat(jobs, 1)
      } else if (isCode(error, 'NONODE', 'NOAUTH', 'REPLYTOOLARGE')) {
        this.#replies.push({ jobs, outcomes: [error] })
      } else throw error
    } finally {
      this.#inFlight--
    }
    this.#wake()
  }

  /** @param batch how many of them may be read at once. The size that other nodes allow says nothing of those read alone */
  #repeat(jobs: readonly ReadJob[], batch: number): void {
    this.#batch = batch
    for (const job of jobs) {
      job.isSent = false
      if (batch === 1) this.#alone[job.kind].add(job.path)
    }
    this.#queue.push(...jobs)
  }

  #readOne({ kind, path }: ReadJob): Promise<ReadOutcome> {
    const { client, signal } = this.#keeper
    const options = { watch: this.#watch, signal }
    return kind === 'data' ? client.getData(path, options) : client.getChildren(path, options)
  }

  /** Chooses the size of the next requests, so that their replies have about the same number of bytes. */
  #adapt(jobs: readonly ReadJob[], outcomes: readonly ReadOutcome[]): void {
    if (jobs.length < this.#batch && jobs.length < TELLING_BATCH) return
    const bytes = outcomes.reduce((sum, outcome) => sum + bytesOf(outcome), 0)
    const fitting = Math.floor((this.#replyBytes * jobs.length) / bytes)
    this.#batch = Math.max(1, Math.min(LARGEST_BATCH, 2 * this.#batch, fitting))
  }
}

const readOpOf = ({ kind, path }: ReadJob): ReadOp => (kind === 'data' ? { getData: path } : { getChildren: path })

function bytesOf(outcome: ReadOutcome): number {
  if (outcome instanceof ZooKeeperError) return outcome.code === 'REPLYTOOLARGE' ? Infinity : OVERHEAD
  if ('children' in outcome) return outcome.children.reduce((sum, name) => sum + 4 + name.length, OVERHEAD)
  return OVERHEAD + outcome.stat.dataLength
}
