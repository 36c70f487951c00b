// One lock in one process: who of us has it or asks the server for it, and who of us waits for that.
import { onAbort } from '../session/abort.ts'
import type { Client, Transaction } from '../session/index.ts'
import { Held, NodeHeld, type HoldOptions } from './held.ts'

/** By session, and by the path at the server. */
const sessions = new WeakMap<object, Map<string, LocalLock>>()

/** The claims of one session to one lock, which is known while there are any. */
export class LocalLock {
  readonly #known: Map<string, LocalLock>
  readonly #path: string
  /** In the order in which they came. Only the first has to do with the server. */
  readonly #claims = new Set<Claim>()

  private constructor(known: Map<string, LocalLock>, path: string) {
    this.#known = known
    this.#path = path
  }

  static of(client: Client, path: string): LocalLock {
    const known = sessions.get(client.sessionKey) ?? new Map<string, LocalLock>()
    sessions.set(client.sessionKey, known)
    const serverPath = client.serverPath(path)
    return known.get(serverPath) ?? new LocalLock(known, serverPath)
  }

  get first(): Claim | undefined {
    const [first] = this.#claims
    return first
  }

  add(claim: Claim): void {
    this.#known.set(this.#path, this)
    this.#claims.add(claim)
  }

  remove(claim: Claim): void {
    this.#claims.delete(claim)
    if (this.first === undefined) this.#known.delete(this.#path)
    else this.first.goOn()
  }

  /** Whoever holds the lock does not wait for himself. */
  admit(holder: Claim): void {
    for (const claim of this.#claims) if (claim !== holder && claim.owner === holder.owner) claim.join(holder)
  }
}

/**
 * What one asks of a lock, and what comes of it:
 *
 *     waiting → taking → held → giving back → over
 *
 * From each it may be over at once: given up, refused, or lost. What the server refuses to have back is held as before.
 */
export class Claim {
  readonly owner: unknown
  readonly #lock: LocalLock
  readonly #options: HoldOptions
  #is: 'waiting' | 'taking' | 'held' | 'giving back' | 'over' = 'waiting'
  #held: Held | undefined
  /** How often the owner is in. */
  #entries = 0
  #resume: ((entry?: Entry) => void) | undefined

  /** @param owner by identity */
  constructor(lock: LocalLock, owner: unknown, options: HoldOptions) {
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
  async make<Nothing extends null>(ask: () => Promise<Held | Nothing>, signal: AbortSignal): Promise<Entry | Nothing> {
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

  enter({ watchOwnNode }: HoldOptions): Entry {
    this.#entries++
    if (watchOwnNode && this.held instanceof NodeHeld) this.held.watchOwnNode()
    return new Entry(this)
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
  goOn(): void {
    this.#resume?.()
  }

  /** Its owner has come to hold the lock by another claim. */
  join(holder: Claim): void {
    this.#end()
    this.#resume?.(holder.enter(this.#options))
  }

  #turn(signal: AbortSignal): Promise<Entry | undefined> {
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

  #hold(held: Held): Entry {
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
    this.#lock.admit(this)
  }

  #end(): void {
    if (this.#is === 'over') return
    this.#is = 'over'
    this.#lock.remove(this)
  }
}

/** One entry into a lock that is held. */
export class Entry extends Held {
  readonly claim: Claim
  #released: Promise<void> | undefined

  constructor(claim: Claim) {
    super()
    this.claim = claim
  }

  override get path(): string {
    return this.claim.held.path
  }

  override get token(): bigint {
    return this.claim.held.token
  }

  override get signal(): AbortSignal {
    return this.claim.held.signal
  }

  override get revoked(): AbortSignal {
    return this.claim.held.revoked
  }

  override validFor(): number {
    return this.#released === undefined ? this.claim.held.validFor() : 0
  }

  override guard(): Transaction {
    return this.claim.held.guard()
  }

  override release(): Promise<void> {
    return (this.#released ??= this.claim.leave().catch((error: unknown) => {
      this.#released = undefined
      throw error
    }))
  }
}
