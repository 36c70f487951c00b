// One lock in one process: who of us has it or asks the server for it, and who of us waits for that.
import { serverPath, sessionKey } from '../../client/recipe-support.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client, Transaction } from '../../client/index.ts'
import { Held, NodeHeld, type HoldOptions } from './held.ts'

/** By session, and by the path at the server. */
const sessions = new WeakMap<object, Map<string, InProcessQueue>>()

/** The claims of one session to one lock, which is known while there are any. */
export class InProcessQueue {
  readonly #known: Map<string, InProcessQueue>
  readonly #path: string
  /** In the order in which they came. Only the first has to do with the server. */
  readonly #claims = new Set<LockRequest>()

  private constructor(known: Map<string, InProcessQueue>, path: string) {
    this.#known = known
    this.#path = path
  }

  static of(client: Client, path: string): InProcessQueue {
    const known = sessions.get(sessionKey(client)) ?? new Map<string, InProcessQueue>()
    sessions.set(sessionKey(client), known)
    const key = serverPath(client, path)
    return known.get(key) ?? new InProcessQueue(known, key)
  }

  get first(): LockRequest | undefined {
    const [first] = this.#claims
    return first
  }

  add(claim: LockRequest): void {
    this.#known.set(this.#path, this)
    this.#claims.add(claim)
  }

  remove(claim: LockRequest): void {
    this.#claims.delete(claim)
    if (this.first === undefined) this.#known.delete(this.#path)
    else this.first.resume()
  }

  /** Whoever holds the lock does not wait for himself. */
  admitSameOwner(holder: LockRequest): void {
    for (const claim of this.#claims) if (claim !== holder && claim.owner === holder.owner) claim.adopt(holder)
  }
}

/**
 * What one asks of a lock, and what comes of it:
 *
 *     waiting → taking → held → giving back → over
 *
 * From each it may be over at once: given up, refused, or lost. What the server refuses to have back is held as before.
 */
export class LockRequest {
  readonly owner: unknown
  readonly #lock: InProcessQueue
  readonly #options: HoldOptions
  #is: 'waiting' | 'taking' | 'held' | 'giving back' | 'over' = 'waiting'
  #held: Held | undefined
  /** How often the owner is in. */
  #entries = 0
  #resume: ((entry?: ReentrantHold) => void) | undefined

  /** @param owner by identity */
  constructor(lock: InProcessQueue, owner: unknown, options: HoldOptions) {
    this.#lock = lock
    this.owner = owner
    this.#options = options
  }

  get isOver(): boolean {
    return this.#is === 'over'
  }

  /** May its owner enter? Not what is being given back: the server may have passed it on. */
  get isHeld(): boolean {
    return this.#is === 'held'
  }

  /** The lock's own node and what goes with it, once it was held. */
  get held(): Held {
    if (this.#held === undefined) throw new Error('it is not held yet')
    return this.#held
  }

  /**
   * Waits for its turn here, then asks the server.
   * @param signal gives up the waiting here; `ask` is to hear it by itself
   */
  async run<Nothing extends null>(
    ask: () => Promise<Held | Nothing>,
    signal: AbortSignal,
  ): Promise<ReentrantHold | Nothing> {
    this.#lock.add(this)
    try {
      if (this.#lock.first !== this) {
        const entry = await this.#turn(signal)
        if (entry !== undefined) return entry
      }
      this.#is = 'taking'
      const held = await ask()
      if (held !== null) return this.#hold(held)
      this.#end()
      return held
    } catch (error) {
      this.#end()
      throw error
    }
  }

  enter({ watchOwnNode }: HoldOptions): ReentrantHold {
    this.#entries++
    if (watchOwnNode && this.held instanceof NodeHeld) this.held.watchOwnNode()
    return new ReentrantHold(this)
  }

  /** Of who is in. The last gives the lock back. */
  async leave(): Promise<void> {
    if (this.#entries > 1) {
      this.#entries--
      return
    }
    if (this.#is === 'held') this.#is = 'giving back'
    try {
      await this.held.release()
    } catch (error) {
      if (this.#is === 'giving back') this.#beHeld()
      throw error
    }
    this.#end()
  }

  /** It is the first now, if it was not before. */
  resume(): void {
    this.#resume?.()
  }

  /** Its owner has come to hold the lock by another claim. */
  adopt(holder: LockRequest): void {
    this.#end()
    this.#resume?.(holder.enter(this.#options))
  }

  #turn(signal: AbortSignal): Promise<ReentrantHold | undefined> {
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        this.#resume = undefined
        this.#end()
        reject(signal.reason as Error)
      })
      this.#resume = entry => {
        this.#resume = undefined
        stopListening()
        resolve(entry)
      }
    })
  }

  #hold(held: Held): ReentrantHold {
    this.#held = held
    // Whoever waits here asks the server, where the lock may be free, whether the entries are ever released or not.
    onAbort(held.signal, () => this.#end())
    const entry = this.enter(this.#options)
    if (held.signal.aborted) this.#end()
    else this.#beHeld()
    return entry
  }

  #beHeld(): void {
    this.#is = 'held'
    this.#lock.admitSameOwner(this)
  }

  #end(): void {
    if (this.#is === 'over') return
    this.#is = 'over'
    this.#lock.remove(this)
  }
}

/** One entry into a lock that is held. */
export class ReentrantHold extends Held {
  readonly request: LockRequest
  #released: Promise<void> | undefined

  constructor(claim: LockRequest) {
    super()
    this.request = claim
  }

  override get path(): string {
    return this.request.held.path
  }

  override get token(): bigint {
    return this.request.held.token
  }

  override get signal(): AbortSignal {
    return this.request.held.signal
  }

  override get revoked(): AbortSignal {
    return this.request.held.revoked
  }

  override validFor(): number {
    return this.#released === undefined ? this.request.held.validFor() : 0
  }

  override guard(): Transaction {
    return this.request.held.guard()
  }

  override release(): Promise<void> {
    return (this.#released ??= this.request.leave().catch((error: unknown) => {
      this.#released = undefined
      throw error
    }))
  }
}
