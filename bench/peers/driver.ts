// Controls a program whose sessions contend for the locks of one library. drivers/lines.ts has its commands.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { runAtExit } from '../../environment/at-exit.ts'

export type Command = readonly [program: string, ...args: string[]]

const WORDS = ['opened', 'joining', 'held', 'gaveup', 'leaving', 'left', 'closed', 'failed'] as const

export interface DriverEvent {
  is: (typeof WORDS)[number]
  who: number
  /** The time at which it happened, by the `performance.now()` of this process. */
  at: number
  /** What failed. */
  message: string
}

/** The time limit for each step of a contender, ms. It is long because the machine may be busy. */
const PATIENCE = 60_000
const EXIT_TIMEOUT = 5000
const MS_PER_NANOSECOND = 1e-6
/** CLOCK_MONOTONIC, which all programs print, minus `performance.now()`. */
const CLOCK_OFFSET = Number(process.hrtime.bigint()) * MS_PER_NANOSECOND - performance.now()

/** @returns undefined for a line that is no event, such as a warning of a library */
export function eventIn(line: string): DriverEvent | undefined {
  const [, word, who, nanos, message = ''] = /^(\w+) (\d+) (\d+)(?: (.*))?$/.exec(line) ?? []
  const is = WORDS.find(each => each === word)
  if (is === undefined) return undefined
  return { is, who: Number(who), at: Number(nanos) * MS_PER_NANOSECOND - CLOCK_OFFSET, message }
}

export class Driver {
  /** What has happened since the last {@link forget}. */
  events: DriverEvent[] = []
  readonly #child: ChildProcessWithoutNullStreams
  readonly #cancelAtExit: () => void
  #stderr = ''
  #onLine: () => void = () => undefined
  #hasEnded = false
  readonly #open = new Set<number>()
  readonly #closing = new Set<number>()

  constructor([program, ...args]: Command) {
    this.#child = spawn(program, args)
    this.#cancelAtExit = runAtExit(() => this.#child.kill('SIGKILL'))
    this.#child.stderr.on('data', chunk => (this.#stderr = (this.#stderr + String(chunk)).slice(-2000)))
    this.#child.stdin.on('error', () => undefined)
    this.#child.on('error', error => (this.#stderr += error.message))
    this.#child.on('close', () => {
      this.#hasEnded = true
      this.#onLine()
    })
    createInterface({ input: this.#child.stdout }).on('line', line => {
      const event = eventIn(line)
      if (event === undefined) return
      if (event.is === 'opened') this.#open.add(event.who)
      this.events.push(event)
      this.#onLine()
    })
  }

  get pid(): number {
    return this.#child.pid ?? NaN
  }

  /** Closes sessions, by default all. What a closed session was waiting for may fail. */
  async closeSessions(contenders: readonly number[] = [...this.#open]): Promise<void> {
    for (const who of contenders) {
      this.#open.delete(who)
      this.#closing.add(who)
    }
    this.forget()
    this.send(...contenders.map(who => `close ${who}`))
    await this.until('closed sessions', () => this.haveAll('closed', contenders))
  }

  send(...commands: readonly string[]): void {
    this.#child.stdin.write(commands.map(command => `${command}\n`).join(''))
  }

  forget(): void {
    this.events = []
  }

  has(is: DriverEvent['is'], who: number): boolean {
    return this.events.some(event => event.is === is && event.who === who)
  }

  /** True if that has happened to each of these contenders. */
  haveAll(is: DriverEvent['is'], contenders: readonly number[]): boolean {
    const done = new Set(this.events.flatMap(event => (event.is === is ? [event.who] : [])))
    return contenders.every(who => done.has(who))
  }

  /**
   * The holder leaves, and each contender that gets the lock leaves too, until none of `waiting` is left. Resolves
   * with the other contenders that got the lock.
   * @param rest resolves when the contenders have nothing left to do
   */
  async passOn(holder: number, waiting: readonly number[], rest: () => Promise<void>): Promise<Set<number>> {
    const left = new Set(waiting)
    const others = new Set<number>()
    let seen = 0
    const follow = () => {
      const news = this.events.slice(seen)
      seen = this.events.length
      const holders = news.flatMap(({ is, who }) => (is === 'held' ? [who] : []))
      for (const who of holders) {
        if (!left.delete(who)) others.add(who)
        this.send(`leave ${who}`)
      }
      return holders.length
    }
    this.forget()
    this.send(`leave ${holder}`)
    await this.until('end of the queue', () => {
      follow()
      return left.size === 0 && this.haveAll('left', [holder, ...waiting])
    })
    do await rest()
    while (follow() > 0)
    return others
  }

  /**
   * Resolves when the events since the last {@link forget} fulfil the condition.
   * @throws Error if a contender fails, the program ends, or `within` ms have passed
   */
  async until(what: string, condition: () => boolean, within = PATIENCE): Promise<void> {
    const isDone = await this.waitsFor(condition, within)
    if (isDone) return
    const events = this.events.map(({ is, who }) => `${is} ${who}`).join(', ')
    throw new Error(`no ${what} within ${within} ms. Happened: ${events || 'nothing'}. ${this.#stderr}`)
  }

  /** Resolves with false if `within` ms pass before. @throws Error if a contender fails, or the program ends */
  async waitsFor(condition: () => boolean, within: number): Promise<boolean> {
    const deadline = performance.now() + within
    for (;;) {
      const failure = this.events.find(({ is, who }) => is === 'failed' && !this.#closing.has(who))
      if (failure !== undefined) throw new Error(`contender ${failure.who} failed: ${failure.message}`)
      if (condition()) return true
      if (this.#hasEnded) throw new Error(`the program of the contenders has ended: ${this.#stderr}`)
      const left = deadline - performance.now()
      if (left <= 0) return false
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>(resolve => {
        this.#onLine = resolve
        timer = setTimeout(resolve, left)
      })
      clearTimeout(timer)
    }
  }

  /** Kills the program with SIGKILL. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.close()
  }

  /** Ends the input of the program, which then exits. Kills it if it does not. */
  async close(): Promise<void> {
    this.#child.stdin.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), EXIT_TIMEOUT)
    if (!this.#hasEnded) await once(this.#child, 'close')
    clearTimeout(timer)
    this.#cancelAtExit()
  }
}
