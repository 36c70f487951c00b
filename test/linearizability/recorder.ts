// Records the history of lock attempts: the events of sessions and of the locks that they request.
import { eventTypes, isCode, Reader, WatcherEvent, xids } from '../../src/protocol/index.ts'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import type { AcquireOptions, Held, Lock } from '../../src/recipes/index.ts'
import { WriteHeld } from '../../src/recipes/locks/read-write-held.ts'
import { now as sharedNow, type Event, type ReportedDeletion } from './history.ts'

/** A reply starts with its xid. The zxid of the server's last transaction follows. */
const ZXID_OFFSET = 4
const REPLY_HEADER = 16

/** An event without its time. Distributes over the union. */
type Untimed<E> = E extends Event ? Omit<E, 'at'> : never

/** What a session has learned about the transactions of its server. */
interface Knowledge {
  /** The last transaction, from the headers of replies. (From 3.9 on, events have a zxid too.) */
  lastZxid: bigint
  /** The last event that reported a deletion. */
  lastDeletion?: ReportedDeletion
}

export class Recorder {
  readonly #write: (event: Event) => void
  readonly #now: () => number
  readonly #holds = new Set<{ id: string; held: Held; lose: () => void }>()
  #count = 0

  constructor(write: (event: Event) => void, now = sharedNow) {
    this.#write = write
    this.#now = now
  }

  record(event: Untimed<Event>): void {
    this.#write({ at: this.#now(), ...event })
  }

  nextId(name: string): string {
    return `${name}${++this.#count}`
  }

  /** @param name the prefix of the ids of the client's attempts */
  async open(connectString: string, options: ConnectOptions, name = ''): Promise<RecordedClient> {
    const known: Knowledge = { lastZxid: 0n }
    const client = await connect(connectString, {
      ...options,
      onFrame({ from, first, bytes }) {
        if (from !== 'server' || first || bytes.length < REPLY_HEADER) return
        const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        if (frame.readInt32BE(0) === xids.notification) {
          const { type, path } = WatcherEvent.read(new Reader(frame, REPLY_HEADER))
          if (type === eventTypes.NodeDeleted && path !== null) known.lastDeletion = { path, after: known.lastZxid }
        }
        const zxid = frame.readBigInt64BE(ZXID_OFFSET)
        if (zxid > known.lastZxid) known.lastZxid = zxid
      },
    })
    const session = client.sessionId
    client.on('state', state => this.record({ is: state === 'connected' ? 'connected' : 'cutOff', session }))
    this.record({ is: 'connected', session })
    return new RecordedClient(this, name, client, known)
  }

  /**
   * Records the loss of every hold whose `validFor()` is 0. Called before each grant, because the signal of a lost hold
   * fires late after this process has stalled. `validFor()`, not the signal, decides whether a holder may believe that
   * it has the lock.
   */
  reportExpiredHolds(): void {
    for (const { held, lose } of this.#holds) if (held.validFor() === 0) lose()
  }

  /** The holds whose loss or release is not recorded yet. */
  get holds(): readonly { id: string; held: Held }[] {
    return [...this.#holds]
  }

  trackHold(id: string, held: Held, lose: () => void): () => void {
    const hold = { id, held, lose }
    this.#holds.add(hold)
    return () => void this.#holds.delete(hold)
  }
}

export interface AttemptOptions extends AcquireOptions {
  isTry?: boolean
  downgrade?: boolean
  releaseInBackground?: boolean
  /** The owner of the attempt, for reentrant locks. */
  owner?: unknown
  /** The number of permits, for semaphores. */
  permits?: number
}

/** A session whose lock attempts are recorded. */
export class RecordedClient {
  readonly client: Client
  readonly #recorder: Recorder
  readonly #name: string
  readonly #known: Readonly<Knowledge>
  readonly #releases: Promise<void>[] = []

  constructor(recorder: Recorder, name: string, client: Client, known: Readonly<Knowledge>) {
    this.#recorder = recorder
    this.#name = name
    this.client = client
    this.#known = known
  }

  /**
   * Makes one attempt: acquires the lock, holds it until `hold` resolves, and releases it.
   * @param isTry use tryAcquire(), which returns null if the lock is taken
   * @param downgrade exchange a write lock for a read lock, and hold that until a second `hold` resolves
   * @param releaseInBackground return without waiting for the release
   */
  async attempt(
    lock: Lock,
    hold: (held: Held) => Promise<unknown>,
    { isTry = false, downgrade = false, releaseInBackground = false, ...options }: AttemptOptions = {},
  ): Promise<void> {
    const request = await this.#request(lock, () => (isTry ? lock.tryAcquire(options) : lock.acquire(options)))
    if (request === undefined) return
    const { id, held } = request
    await this.#hold(id, held, hold)
    const downgraded =
      downgrade && held instanceof WriteHeld ? await this.#request(lock, () => held.downgrade()) : undefined
    await this.#finishRelease(this.#release(id, held), releaseInBackground)
    if (downgraded === undefined) return
    await this.#hold(downgraded.id, downgraded.held, hold)
    await this.#finishRelease(this.#release(downgraded.id, downgraded.held), releaseInBackground)
  }

  /** Resolves when all background releases are done. */
  async released(): Promise<void> {
    await Promise.all(this.#releases)
  }

  async #finishRelease(released: Promise<void>, releaseInBackground: boolean): Promise<void> {
    if (releaseInBackground) this.#releases.push(released)
    else await released
  }

  /** @returns undefined if the lock is refused */
  async #request(lock: Lock, acquire: () => Promise<Held | null>): Promise<{ id: string; held: Held } | undefined> {
    const recorder = this.#recorder
    const id = recorder.nextId(this.#name)
    const refuse = (why: string) => recorder.record({ is: 'refused', id, why })
    recorder.record({ is: 'requested', id, lock: lock.path, session: this.client.sessionId })
    try {
      const held = await acquire()
      if (held !== null) return { id, held }
      refuse('taken')
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error))
    }
    return undefined
  }

  async #hold(id: string, held: Held, hold: (held: Held) => Promise<unknown>): Promise<void> {
    const recorder = this.#recorder
    recorder.reportExpiredHolds()
    recorder.record({ is: 'granted', id, node: held.path, token: held.token, ...this.#known })
    let isLost = false
    const lose = () => {
      if (!isLost) recorder.record({ is: 'lost', id })
      isLost = true
      untrack()
    }
    const untrack = recorder.trackHold(id, held, lose)
    if (held.signal.aborted) lose()
    else held.signal.addEventListener('abort', lose, { once: true })
    await hold(held)
    untrack()
    held.signal.removeEventListener('abort', lose)
    recorder.record({ is: 'releasing', id })
  }

  async #release(id: string, held: Held): Promise<void> {
    await held.release()
    const { state, leaseSignal } = this.client
    const isOver = ['expired', 'closed', 'authFailed'].includes(state) || isCode(leaseSignal.reason, 'CLOSED')
    this.#recorder.record({ is: 'released', id, lastZxid: this.#known.lastZxid, isOver })
  }
}
