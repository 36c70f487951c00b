// The program of one simulated client: it opens a session, takes part in the recipe, and notes what it sees.
import { connect, ZooKeeperError, type Client, type State } from '../../src/index.ts'
import { Counter } from '../../src/recipes/index.ts'
import type { Acquired, Take } from './recipes.ts'
import type { Line } from './line.ts'
import type { JournalEntry, Outcome, ProgramEnd, Role, StoreWrite } from './picture.ts'
import type { Process } from './process.ts'
import type { Call, WriteProtection } from './story.ts'

/** What a client runs in place of a recipe, once its session is open. */
export type Main = (program: Program) => Promise<void>

/** What a program can let happen to its own process and line. */
export type OwnFault =
  { readonly kind: 'stop' | 'unplug'; readonly seconds: number } | { readonly kind: 'cut' | 'kill' }

/** The node to which a holder writes by `guard()`. */
export const RESOURCE = '/resource'
/** How long a holder works between its check and its write, in milliseconds. */
export const WORK = 1000
/** The session timeout that each client requests, in milliseconds. */
export const SESSION_TIMEOUT = 10_000
/** How many entries of the journal are kept. */
const JOURNAL = 50

export interface ProgramOptions {
  /** The number of the client, and that of all clients. */
  readonly id: number
  readonly all: number
  readonly process: Process
  readonly line: Line
  readonly connectString: string
  readonly random: () => number
  readonly take: Take | undefined
  readonly main: Main | undefined
  readonly now: () => number
  /** Called with the id of each session. */
  readonly onSession: (session: bigint) => void
  /** Called each time that the client got what it waited for. */
  readonly onTaken: () => void
  /** Called when it gives that up, or learns that it has lost it. */
  readonly onLeft: () => void
  /** Called with each call of a bare client. Returns what is called with its outcome. */
  readonly onCall: (call: Call) => (outcome: Outcome) => void
  /** Lets something happen to this client, as a reader can. */
  readonly suffer: (fault: OwnFault) => void
  /**
   * Sends a write to the store outside ZooKeeper, or only a token. Resolves with true if it accepts that.
   * @param lock the path of the own node of the lock
   */
  readonly writeToStore: (kind: StoreWrite['kind'], lock: string, token: bigint | undefined) => Promise<boolean>
}

export class Program {
  readonly options: ProgramOptions
  client: Client | undefined
  state: State = 'connecting'
  role: Role = 'none'
  acquired: Acquired | undefined
  /** How `main` ended; undefined while it runs, and if there is none. */
  ended: ProgramEnd | undefined
  /** The virtual time at which the lease ends, as it was when the process was stopped. */
  leaseEndsAt = 0
  /** The numbers of frames that the client has sent and received, as its `onFrame` counts them. */
  readonly observed = { up: 0, down: 0 }
  /** Resolves when the client has taken part for the first time, or cannot. */
  readonly hasTaken: Promise<void>
  #taken!: () => void
  readonly #journal: JournalEntry[] = []

  constructor(options: ProgramOptions) {
    this.options = options
    this.hasTaken = new Promise(resolve => (this.#taken = resolve))
  }

  get journal(): readonly JournalEntry[] {
    return this.#journal.slice(-JOURNAL)
  }

  /** Opens a session, and then runs `main`, or takes part in the recipe. */
  async run(): Promise<void> {
    const { main } = this.options
    if (await this.open()) await (main === undefined ? this.join() : this.#runMain(main))
    this.#taken()
  }

  async open(): Promise<boolean> {
    const { process, line, connectString, random } = this.options
    this.note('call', 'opens a session')
    try {
      this.client = await connect(connectString, {
        dial: line.dialFrom(process),
        clock: process,
        random,
        sessionTimeout: SESSION_TIMEOUT,
        connectTimeout: 600_000,
        onFrame: ({ from }) => void this.observed[from === 'client' ? 'up' : 'down']++,
        onUncaughtError: error => this.note('error', sentenceOf(error)),
      })
    } catch (error) {
      this.note('error', sentenceOf(error))
      return false
    }
    this.options.onSession(this.client.sessionId)
    this.#onState(this.client.state)
    this.client.on('state', state => this.#onState(state))
    return true
  }

  /** True if its session has ended, so that it can do nothing more. */
  get isOver(): boolean {
    return this.state === 'expired' || this.state === 'authFailed' || this.state === 'closed'
  }

  /** Notes when the lease ends. A process that is stopped cannot be asked. */
  noteLease(): void {
    this.leaseEndsAt = this.options.now() + (this.client?.validFor() ?? 0)
  }

  /** Opens a session, deletes the node and all nodes below it, and closes the session. */
  async deleteOnce(path: string): Promise<void> {
    if (!(await this.open()) || this.client === undefined) return
    await this.client.deleteRecursive(path).catch((error: unknown) => this.note('error', sentenceOf(error)))
    await this.client.close()
  }

  /** Waits for the recipe's lock, barrier or permit. */
  async join(): Promise<void> {
    const { take, id, all } = this.options
    const { client } = this
    if (take === undefined || client === undefined || this.role === 'waiting' || this.acquired !== undefined) return
    this.role = 'waiting'
    this.note('lock', 'waits')
    try {
      const acquired = await take(client, id, all)
      this.acquired = acquired
      this.role = acquired.role
      this.options.onTaken()
      this.note(
        'lock',
        acquired.held === undefined ? 'is through' : `holds the lock with the token ${acquired.held.token}`,
      )
      acquired.held?.signal.addEventListener('abort', () => this.#onLost(acquired), { once: true })
    } catch (error) {
      this.role = 'none'
      this.note('error', sentenceOf(error))
    }
    this.#taken()
  }

  async release(): Promise<void> {
    const { acquired } = this
    if (acquired === undefined) {
      this.note('error', 'holds nothing')
      return
    }
    this.acquired = undefined
    this.role = 'done'
    this.options.onLeft()
    this.note('lock', 'releases')
    try {
      await acquired.release()
      this.note('lock', 'has released')
    } catch (error) {
      this.note('error', sentenceOf(error))
    }
  }

  /** Notes that `main` is in its critical section, until {@link leave}. */
  enter(): void {
    if (this.role === 'holding') throw new Error('enter() was called twice, without leave() between')
    this.role = 'holding'
    this.options.onTaken()
    this.note('lock', 'enters')
  }

  leave(): void {
    if (this.role !== 'holding') throw new Error('leave() was called without enter()')
    this.role = 'done'
    this.options.onLeft()
    this.note('lock', 'leaves')
  }

  /** Checks that it holds the lock, works, and then writes. */
  async write(protection: WriteProtection): Promise<void> {
    const { process, writeToStore } = this.options
    const held = this.acquired?.held
    if (held === undefined || this.client === undefined) {
      this.note('error', 'holds no lock')
      return
    }
    try {
      if (protection === 'guard') await this.client.ensurePath(RESOURCE)
      if (held.validFor() === 0) {
        this.note('error', 'does not write: its lock may be lost')
        return
      }
      if (protection === 'registered token' && !(await writeToStore('registration', held.path, held.token))) {
        this.note('error', 'the store refuses to register the old token')
        return
      }
      this.note('lock', 'has checked that it holds the lock, and works for a second')
      await process.sleep(WORK)
      this.note('call', `writes with ${WRITES[protection]}`)
      if (protection === 'guard') await held.guard().setData(RESOURCE, `client ${this.options.id}`).commit()
      const isAccepted =
        protection === 'guard' ||
        (await writeToStore('write', held.path, protection === 'nothing' ? undefined : held.token))
      this.note(
        isAccepted ? 'result' : 'error',
        isAccepted ? 'the write is accepted' : 'the store refuses the old token',
      )
    } catch (error) {
      this.note('error', sentenceOf(error))
    }
  }

  /** Makes a call of a bare client, and notes its result. */
  async call(call: Call): Promise<void> {
    const { client } = this
    if (client === undefined) {
      this.note('error', 'has no session')
      return
    }
    this.note('call', `${call.op} ${call.path}`)
    const settle = this.options.onCall(call)
    try {
      const { text, value } = await this.#resultOf(client, call)
      settle({ value })
      this.note('result', text)
    } catch (error) {
      settle({ error: error instanceof ZooKeeperError ? error.code : 'ERROR' })
      this.note('error', sentenceOf(error))
    }
  }

  async #runMain(main: Main): Promise<void> {
    try {
      await main(this)
      this.end()
    } catch (error) {
      this.end(error as Error)
    }
  }

  /**
   * Notes that `main` has ended, or failed. Only the first call counts.
   * @param error has the line of the code, if it is known
   */
  end(error?: Error & { readonly line?: number | undefined }): void {
    if (this.ended !== undefined) return
    const at = this.options.now()
    this.ended = error === undefined ? { at } : { at, error: { message: error.message, line: error.line } }
    if (error === undefined) this.note('result', 'its program has ended')
    else this.note('error', `its program has failed: ${error.message}`)
    // A program that has ended is in no critical section.
    this.role = 'done'
    this.options.onLeft()
  }

  note(kind: JournalEntry['kind'], text: string): void {
    this.#journal.push({ at: this.options.now(), kind, text })
    if (this.#journal.length > 2 * JOURNAL) this.#journal.splice(0, JOURNAL)
  }

  async #resultOf(client: Client, call: Call): Promise<Result> {
    const watch = (event: { type: string; path: string }) => this.note('event', `${event.type} ${event.path}`)
    const { path } = call
    switch (call.op) {
      case 'create':
        return { text: `created ${(await client.create(path, call.data, { mode: call.mode })).path}` }
      case 'get': {
        const { data, stat } = await client.getData(path, call.watch ? { watch } : {})
        const value = data?.toString()
        const said = value === undefined ? 'null' : `“${value}”`
        return { text: `${path} has version ${stat.version} and the data ${said}`, value }
      }
      case 'exists': {
        const stat = await client.exists(path, call.watch ? { watch } : {})
        const text = stat === null ? `${path} does not exist` : `${path} exists, version ${stat.version}`
        return { text, value: stat !== null }
      }
      case 'children': {
        const { children } = await client.getChildren(path, call.watch ? { watch } : {})
        return { text: `${path} has ${children.length === 0 ? 'no children' : `the children ${children.join(', ')}`}` }
      }
      case 'set':
        return { text: `${path} has version ${(await client.setData(path, call.data)).version} now` }
      case 'delete':
        await client.delete(path)
        return { text: `deleted ${path}` }
      case 'sync':
        await client.sync(path)
        return { text: `synced ${path}` }
      case 'add watch':
        return { text: await this.#addWatch(client, path, call.recursive) }
      case 'increment': {
        const value = String(await new Counter(client, path, { format: 'decimal' }).increment())
        return { text: `${path} is ${value} now`, value }
      }
    }
  }

  async #addWatch(client: Client, path: string, recursive: boolean): Promise<string> {
    const watcher = await client.addWatch(path, { recursive })
    const follow = async () => {
      for await (const event of watcher) this.note('event', `${event.type} ${event.path}`)
    }
    follow().catch((error: unknown) => this.note('error', sentenceOf(error)))
    return `watches ${path}${recursive ? ' and all below it' : ''}`
  }

  #onState(state: State): void {
    this.state = state
    this.note('state', `the session is ${state}`)
  }

  #onLost(acquired: Acquired): void {
    if (this.acquired !== acquired) return
    this.acquired = undefined
    this.role = 'lost'
    this.options.onLeft()
    this.note('lock', 'has lost the lock')
  }
}

/** What a call returned: a sentence for the journal, and the value of its outcome. */
interface Result {
  readonly text: string
  readonly value?: string | boolean | undefined
}

const WRITES: Readonly<Record<WriteProtection, string>> = {
  nothing: 'no token',
  token: 'its token',
  'registered token': 'its token, which the store knows',
  guard: 'guard()',
}

const sentenceOf = (error: unknown): string =>
  error instanceof ZooKeeperError || error instanceof Error ? error.message : String(error)
