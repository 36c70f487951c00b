// Writes down what happens to those who want a lock: sessions, and what they ask for.
import { isCode } from '../../src/protocol/index.ts'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import type { AcquireOptions, Held, Lock } from '../../src/recipes/index.ts'
import { WriteHeld } from '../../src/recipes/locks/read-write-held.ts'
import { now as sharedNow, type Event } from './history.ts'

/** Of a reply: its xid, then the last transaction that its server knew of. */
const ZXID_OFFSET = 4
const REPLY_HEADER = 16

/** Without its time, each of the union for itself. */
type Untimed<E> = E extends Event ? Omit<E, 'at'> : never

export class Recorder {
  readonly #tell: (event: Event) => void
  readonly #now: () => number
  readonly #holds = new Set<{ held: Held; lose: () => void }>()
  #count = 0

  constructor(tell: (event: Event) => void, now = sharedNow) {
    this.#tell = tell
    this.#now = now
  }

  say(event: Untimed<Event>): void {
    this.#tell({ at: this.#now(), ...event })
  }

  nextId(name: string): string {
    return `${name}${++this.#count}`
  }

  /** @param name which the ids of its tries begin with */
  async open(connectString: string, options: ConnectOptions, name = ''): Promise<Contestant> {
    let seen = 0n
    const client = await connect(connectString, {
      ...options,
      onFrame({ from, first, bytes }) {
        if (from !== 'server' || first || bytes.length < REPLY_HEADER) return
        const zxid = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readBigInt64BE(ZXID_OFFSET)
        if (zxid > seen) seen = zxid
      },
    })
    const session = client.sessionId
    client.on('state', state => this.say({ is: state === 'connected' ? 'connected' : 'cutOff', session }))
    this.say({ is: 'connected', session })
    return new Contestant(this, name, client, () => seen)
  }

  /**
   * `validFor()` is the authority on what a holder may believe; its signal lags a stall of this process. So whoever is granted something asks
   * it of all others.
   */
  dispel(): void {
    for (const { held, lose } of this.#holds) if (held.validFor() === 0) lose()
  }

  holds(held: Held, lose: () => void): () => void {
    const hold = { held, lose }
    this.#holds.add(hold)
    return () => void this.#holds.delete(hold)
  }
}

export interface PassOptions extends AcquireOptions {
  isTry?: boolean
  downgrade?: boolean
  isHasty?: boolean
  /** Who asks, where a lock lets the same one in again. */
  owner?: unknown
}

/** Who wants locks: a session that is written down. */
export class Contestant {
  readonly client: Client
  readonly #recorder: Recorder
  readonly #name: string
  readonly #seen: () => bigint
  readonly #leaving: Promise<void>[] = []

  constructor(recorder: Recorder, name: string, client: Client, seen: () => bigint) {
    this.#recorder = recorder
    this.#name = name
    this.client = client
    this.#seen = seen
  }

  /**
   * One try: to acquire, to hold for as long as `hold` takes, to release.
   * @param isTry only if nobody has the lock
   * @param downgrade trade a write lock for a read lock, and hold that for as long again
   * @param isHasty does not wait until what it gives back has gone
   */
  async pass(
    lock: Lock,
    hold: (held: Held) => Promise<unknown>,
    { isTry = false, downgrade = false, isHasty = false, ...options }: PassOptions = {},
  ): Promise<void> {
    const asked = await this.#ask(lock, () => (isTry ? lock.tryAcquire(options) : lock.acquire(options)))
    if (asked === undefined) return
    const { id, held } = asked
    await this.#hold(id, held, hold)
    const traded = downgrade && held instanceof WriteHeld ? await this.#ask(lock, () => held.downgrade()) : undefined
    await this.#leave(this.#release(id, held), isHasty)
    if (traded === undefined) return
    await this.#hold(traded.id, traded.held, hold)
    await this.#leave(this.#release(traded.id, traded.held), isHasty)
  }

  /** What was given back has gone. */
  async left(): Promise<void> {
    await Promise.all(this.#leaving)
  }

  async #leave(released: Promise<void>, isHasty: boolean): Promise<void> {
    if (isHasty) this.#leaving.push(released)
    else await released
  }

  /** @returns undefined where it is refused */
  async #ask(lock: Lock, ask: () => Promise<Held | null>): Promise<{ id: string; held: Held } | undefined> {
    const recorder = this.#recorder
    const id = recorder.nextId(this.#name)
    const refuse = (why: string) => recorder.say({ is: 'refused', id, why })
    recorder.say({ is: 'asked', id, lock: lock.path, session: this.client.sessionId })
    try {
      const held = await ask()
      if (held !== null) return { id, held }
      refuse('taken')
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error))
    }
    return undefined
  }

  async #hold(id: string, held: Held, hold: (held: Held) => Promise<unknown>): Promise<void> {
    const recorder = this.#recorder
    recorder.dispel()
    recorder.say({ is: 'granted', id, node: held.path, token: held.token, seen: this.#seen() })
    let isLost = false
    const lose = () => {
      if (!isLost) recorder.say({ is: 'lost', id })
      isLost = true
    }
    const forget = recorder.holds(held, lose)
    if (held.signal.aborted) lose()
    else held.signal.addEventListener('abort', lose, { once: true })
    await hold(held)
    forget()
    held.signal.removeEventListener('abort', lose)
    recorder.say({ is: 'releasing', id })
  }

  async #release(id: string, held: Held): Promise<void> {
    await held.release()
    const { state, leaseSignal } = this.client
    const isOver = ['expired', 'closed', 'authFailed'].includes(state) || isCode(leaseSignal.reason, 'CLOSED')
    this.#recorder.say({ is: 'released', id, seen: this.#seen(), isOver })
  }
}
