// A queue inside the process in front of the queue at the server, and a lock that its holder may take again.
import type { Client, Transaction } from '../session/index.ts'
import { asSomebody, becomeSomebody, everybodyHere } from './context.ts'
import { contend, type AcquireOptions } from './contend.ts'
import { Held } from './held.ts'
import { Lock } from './lock.ts'
import { Mutex } from './mutex.ts'
import type { ContenderInfo } from './queue.ts'
import type { MutexOptions } from './queue-lock.ts'
import { Turns } from './turns.ts'

interface ByContext {
  /** The async context is the owner. Default false. */
  byContext?: boolean
}

export interface ReentrantMutexOptions extends MutexOptions, ByContext {}

export interface ReentrantAcquireOptions extends AcquireOptions, ByContext {
  /** Who asks: any value, compared by identity. The owner who holds the lock enters at once. Default: somebody new. */
  owner?: unknown
}

/** What is going on in this process about one lock, while something is. */
class Local {
  readonly turns = new Turns()
  holding: Holding | undefined
  readonly #forget: () => void

  constructor(forget: () => void) {
    this.#forget = forget
  }

  endTurn(): void {
    this.holding = undefined
    this.turns.end()
    if (!this.turns.isTaken) this.#forget()
  }
}

const sessions = new WeakMap<object, Map<string, Local>>()

/** By the path at the server, of one session. */
function localsOf({ sessionKey }: Client): Map<string, Local> {
  const locals = sessions.get(sessionKey) ?? new Map<string, Local>()
  sessions.set(sessionKey, locals)
  return locals
}

/** The lock held, as often as its owner has entered. */
class Holding {
  readonly held: Held
  readonly #owner: unknown
  #entered = 0
  readonly #over: () => void

  constructor(held: Held, owner: unknown, over: () => void) {
    this.held = held
    this.#owner = owner
    this.#over = over
  }

  isOf(owners: readonly unknown[]): boolean {
    return owners.includes(this.#owner)
  }

  enter(): Held {
    this.#entered++
    return new Entered(this)
  }

  async leave(): Promise<void> {
    if (--this.#entered > 0) return
    try {
      await this.held.release()
    } finally {
      this.#over()
    }
  }
}

/** One entry into a lock that is held. */
class Entered extends Held {
  readonly #holding: Holding
  #released: Promise<void> | undefined

  constructor(holding: Holding) {
    super()
    this.#holding = holding
  }

  override get path(): string {
    return this.#holding.held.path
  }

  override get token(): bigint {
    return this.#holding.held.token
  }

  override get signal(): AbortSignal {
    return this.#holding.held.signal
  }

  override get revoked(): AbortSignal {
    return this.#holding.held.revoked
  }

  override validFor(): number {
    return this.#released === undefined ? this.#holding.held.validFor() : 0
  }

  override guard(): Transaction {
    return this.#holding.held.guard()
  }

  override release(): Promise<void> {
    return (this.#released ??= this.#holding.leave())
  }
}

/**
 * A {@link Mutex} for many tasks of one process. They queue here, first come, first served, and only the first of them has a node and
 * a watch at the server; it gives the lock back there before the next one here asks for it, so that other processes get their turn.
 *
 * Whoever holds the lock may take it again: the same `owner`, or with `byContext` the same async context. It is free when each entry has
 * been released; all of them have one token. With `byContext`, whatever the holder has started since counts as the holder, so that branches
 * which it runs in parallel are not kept apart from each other; prefer `use`, which makes a context for its function, to
 * `acquire`, which makes the caller's own the holder (and for that needs AsyncLocalStorage.enterWith, which workerd lacks).
 */
export class ReentrantMutex extends Lock {
  readonly #mutex: Mutex
  readonly #byContext: boolean

  constructor(client: Client, path: string, { byContext = false, ...options }: ReentrantMutexOptions = {}) {
    super(client, path)
    this.#mutex = new Mutex(client, path, options)
    this.#byContext = byContext
  }

  override async acquire(options: ReentrantAcquireOptions = {}): Promise<Held> {
    const [owner, ...around] = this.#owners(options)
    options.signal?.throwIfAborted()
    const entered = this.#enter([owner, ...around])
    if (entered !== undefined) return entered
    const local = this.#local()
    return contend(this.client, this.path, nothing, options, async signal => {
      await local.turns.begin(signal)
      return this.#hold(local, owner, () => this.#mutex.acquire({ ...options, signal, timeout: Infinity }))
    })
  }

  override async tryAcquire(options: ReentrantAcquireOptions = {}): Promise<Held | null> {
    const [owner, ...around] = this.#owners(options)
    options.signal?.throwIfAborted()
    const entered = this.#enter([owner, ...around])
    if (entered !== undefined) return entered
    const local = this.#local()
    if (!local.turns.tryBegin()) return null
    return this.#hold(local, owner, () => this.#mutex.tryAcquire(options))
  }

  override use<T>(fn: (held: Held) => T | Promise<T>, options: ReentrantAcquireOptions = {}): Promise<T> {
    return this.#isByContext(options) ? asSomebody(() => super.use(fn, options)) : super.use(fn, options)
  }

  /** Who holds the lock and who waits for it at the server: of those in this process, the first. */
  contenders(): Promise<ContenderInfo[]> {
    return this.#mutex.contenders()
  }

  #isByContext({ owner, byContext = this.#byContext }: ReentrantAcquireOptions): boolean {
    return byContext && owner === undefined
  }

  /** The one who would hold the lock, then those whose hold he may share. */
  #owners(options: ReentrantAcquireOptions): [unknown, ...unknown[]] {
    if (!this.#isByContext(options)) return [options.owner ?? Symbol('somebody new')]
    becomeSomebody()
    const [caller, ...around] = everybodyHere()
    return [caller, ...around]
  }

  #enter(owners: readonly unknown[]): Held | undefined {
    const holding = localsOf(this.client).get(this.#serverPath)?.holding
    return holding?.isOf(owners) ? holding.enter() : undefined
  }

  get #serverPath(): string {
    return this.client.serverPath(this.path)
  }

  async #hold<H extends Held | null>(local: Local, owner: unknown, acquire: () => Promise<H>): Promise<Held | H> {
    try {
      const held = await acquire()
      if (held !== null) return (local.holding = new Holding(held, owner, () => local.endTurn())).enter()
      local.endTurn()
      return held
    } catch (error) {
      local.endTurn()
      throw error
    }
  }

  /** The caller takes a turn in it before anything else happens, or else it is forgotten by nobody. */
  #local(): Local {
    const locals = localsOf(this.client)
    const path = this.#serverPath
    const local = locals.get(path) ?? new Local(() => locals.delete(path))
    locals.set(path, local)
    return local
  }
}

const nothing = { leave: () => Promise.resolve() }
