// One copy of the program that is judged: its process, its lines, and its connections.
import { createInterface } from 'node:readline'
import type { Clock } from '../../runtime/clock.ts'
import type { Address } from '../../transport/transport.ts'
import type { Line } from '../conversation/conversation.ts'
import { Program } from '../guarded/program.ts'
import { TraceProxy } from '../trace/proxy.ts'
import { hostPortOf } from '../../runtime/host-port.ts'

/**
 * `starting`: it has not said `ready`. `idle`: it has no order. `waiting`: it was told to lock. `holding`: it has said
 * `in`. `lost`: it has said that it holds the lock no more. `leaving`: it was told to unlock. `ended`: its process has.
 */
export type CopyState = 'starting' | 'idle' | 'waiting' | 'holding' | 'lost' | 'leaving' | 'ended'

/** A connection of a copy: its number in the trial, and the address of its server. */
export interface Wire {
  readonly connection: number
  readonly server: string
}

export interface CopyOptions {
  readonly number: number
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The servers, each of which the copy reaches by a proxy of its own. */
  readonly servers: readonly Address[]
  readonly nextConnection: () => number
  /** Called with each frame, and when a connection is opened or closed. */
  onWire(copy: Copy, line: Line, wire: Wire): void
  onLine(copy: Copy, text: string): void
  onEnd(copy: Copy, status: number): void
  /** Called when it has printed more than {@link MOST_PRINTED}. Nothing more of it is read. */
  onFlood(copy: Copy): void
  /** Called with each session that the copy gets. */
  onSession(copy: Copy): void
}

/** The last characters of stderr that are kept. */
const KEPT = 2000
/** The most bytes that a process may print, each line with what the judge keeps of it. More would fill the memory. */
const MOST_PRINTED = 2 ** 20
const KEPT_OF_LINE = 100
/** The length, the version and the timeout. */
const SESSION_START = 12

export class Copy {
  readonly number: number
  state: CopyState = 'starting'
  /** How often it was told to lock. */
  round = 0
  /** The number of the grant that it has, among all of the trial. */
  grant = 0
  /** Its session, or the last one. 0 if it had none. */
  session = 0n
  /** All its sessions, also of its processes before. */
  readonly sessions = new Set<bigint>()
  /** When its last frame or line was seen, by the clock. */
  activeAt = 0
  /** The notifications that it got while it waited. */
  notifications = 0
  /** True while its process is stopped. */
  isStopped = false
  /** The end of what it has written to stderr. */
  complaint = ''
  readonly #options: CopyOptions
  #proxies: TraceProxy[] = []
  #program: Program | undefined

  constructor(options: CopyOptions) {
    this.number = options.number
    this.#options = options
  }

  /** Starts the process. After a kill, starts it again. */
  async start(): Promise<void> {
    const { servers, words, env, clock, number, nextConnection } = this.#options
    if (this.#proxies.length === 0)
      for (const server of servers)
        this.#proxies.push(
          await TraceProxy.start({ host: '127.0.0.1', port: 0 }, server, () => {
            const wire = { connection: nextConnection(), server: hostPortOf(server) }
            return line => this.#seen(line, wire)
          }),
        )
    const hosts = this.#proxies.map(({ address }) => hostPortOf(address)).join(',')
    this.state = 'starting'
    this.activeAt = clock.now()
    const own = { ZK_HOSTS: hosts, ZKWIRE_SERVER: hosts, ZK_COPY: String(number), PYTHONUNBUFFERED: '1' }
    const program = await Program.start({ words, env: { ...env, ...own }, stdin: 'pipe', clock })
    this.#program = program
    const { stdin, stdout, stderr } = program.streams
    // A program that has ended reads nothing.
    stdin?.on('error', () => undefined)
    stderr?.on('data', chunk => (this.complaint = (this.complaint + String(chunk)).slice(-KEPT)))
    let printed = 0
    const isFlooded = (count: number) => {
      const wasFlooded = printed > MOST_PRINTED
      printed += count
      if (printed <= MOST_PRINTED) return false
      if (!wasFlooded) {
        stdout?.destroy()
        if (this.#program === program) this.#options.onFlood(this)
      }
      return true
    }
    stdout?.on('data', (chunk: Buffer) => isFlooded(chunk.length))
    if (stdout !== null)
      createInterface({ input: stdout }).on('line', text => {
        if (this.#program !== program || isFlooded(KEPT_OF_LINE)) return
        this.activeAt = clock.now()
        this.#options.onLine(this, text.trim())
      })
    void program.ended.then(status => {
      if (this.#program !== program) return
      this.state = 'ended'
      this.#options.onEnd(this, status)
    })
  }

  tell(order: 'lock' | 'unlock'): void {
    this.activeAt = this.#options.clock.now()
    this.#program?.streams.stdin?.write(`${order}\n`)
  }

  /** Tells the program that there is no more to do. */
  endInput(): void {
    this.#program?.streams.stdin?.end()
  }

  stop(): void {
    this.isStopped = true
    this.#program?.kill('SIGSTOP')
  }

  go(): void {
    this.isStopped = false
    this.activeAt = this.#options.clock.now()
    this.#program?.kill('SIGCONT')
  }

  /** Ends its connections. It can connect again. */
  cut(): void {
    for (const proxy of this.#proxies) proxy.cut()
  }

  /** Kills the process. Resolves when all that it has started is gone, and the servers see no more of it. */
  async kill(): Promise<void> {
    const program = this.#program
    this.#program = undefined
    this.state = 'ended'
    this.isStopped = false
    program?.kill('SIGKILL')
    await program?.ended
    await program?.allEnded(() => undefined)
    this.cut()
  }

  async close(): Promise<void> {
    await this.kill()
    await Promise.all(this.#proxies.map(proxy => proxy.close()))
  }

  #seen(line: Line, wire: Wire): void {
    const { frame, bytes, isPing } = line
    if (line.ends !== undefined || line.isClosed === true) this.#options.onWire(this, line, wire)
    if (isPing || frame === undefined || bytes === undefined) return
    this.activeAt = this.#options.clock.now()
    // A holder may watch its own node: that wakes nobody who waits.
    if (frame.op === 'event' && this.state === 'waiting') this.notifications++
    this.#options.onWire(this, line, wire)
    if (frame.op !== 'connect' || frame.from !== 'server') return
    const sessionId = bytes.readBigInt64BE(SESSION_START)
    if (sessionId === 0n) return
    this.session = sessionId
    this.sessions.add(sessionId)
    this.#options.onSession(this)
  }
}
