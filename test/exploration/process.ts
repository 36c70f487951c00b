// A client's process in an explored world: the real client, the program of its caller, and what the process does after each input.
// It shares nothing with other processes, so its state follows from its inputs in their order.
import { nextTick } from 'node:process'
import type { Client, TransportHandler, Transport } from '../../src/index.ts'
import type { Event } from '../linearizability/history.ts'
import { Recorder, type RecordedClient } from '../linearizability/recorder.ts'
import { seededRandom, type Random } from '../support/seeded-random.ts'
import { framesIn, type Frame, type Packet, type Packets } from './packet.ts'
import { ProcessClock, WorldTime } from './process-clock.ts'

/** Something that happens to a process, at a time. `link` is the number of a connection. */
export type Input = { readonly at: number } & (
  | { readonly is: 'started' | 'step' | 'timers' | 'abort' | 'cut' | 'close' }
  | { readonly is: 'received'; readonly link: number; readonly packet: Packet }
  | { readonly is: 'closed'; readonly link: number }
)

export const keyOf = (input: Input): string =>
  `${input.at} ${input.is} ${'link' in input ? input.link : ''} ${'packet' in input ? input.packet.told : ''}`

/** What a caller tells the judge of the world. */
export interface Told {
  readonly is: 'told'
  readonly process: string
  readonly session: bigint
  readonly at: number
  readonly what: string
  readonly value?: unknown
}

/** What a process does after an input. */
export type Effect =
  | { readonly is: 'dials'; readonly server: string }
  | { readonly is: 'sends'; readonly link: number; readonly frame: Frame }
  | { readonly is: 'leaves'; readonly link: number }
  | { readonly is: 'records'; readonly event: Event | Told; readonly text: string }

/** What the explorer sees of a process. */
export interface View {
  readonly effects: readonly Effect[]
  /** The next step of its caller. */
  readonly next: string | undefined
  readonly canAbort: boolean
  readonly isDone: boolean
  readonly session: bigint
  readonly isSuspended: boolean
  readonly isClosed: boolean
  /** When the next timer is due; Infinity if there is none. */
  readonly timerAt: number
  readonly timers: number
  /** The locks that its caller believes to hold, and until when by validFor(). */
  readonly beliefs: readonly { readonly id: string; readonly until: number }[]
}

/** The program of a process. `step` waits until the explorer chooses the step. */
export type Program = (process: Process) => Promise<unknown>

export class Process {
  readonly name: string
  readonly nth: number
  readonly clock: ProcessClock
  readonly recorder: Recorder
  readonly #time = new WorldTime()
  readonly #packets: Packets
  readonly #program: Program
  readonly #address: string
  readonly #links: { handler: TransportHandler; isLeft: boolean; isNew: boolean }[] = []
  #client: Client | undefined
  /** Aborts the present call of the caller; undefined if it has no call that waits. */
  #abort: AbortController | undefined
  /** The reason with which the caller gives up. */
  readonly gaveUp = new Error('the caller gives up')
  #next: { what: string; go: () => void } | undefined
  #isDone = false
  #isClosed = false
  #effects: Effect[] = []

  /** @param address the server that it connects to, again and again */
  constructor(name: string, nth: number, address: string, program: Program, packets: Packets) {
    this.name = name
    this.nth = nth
    this.clock = new ProcessClock(this.#time)
    this.recorder = new Recorder(
      event => this.#record(event),
      () => this.#time.now,
    )
    this.#packets = packets
    this.#address = address
    this.#program = program
  }

  // What its program calls

  async connect(sessionTimeout: number): Promise<RecordedClient> {
    const recorded = await this.recorder.open(
      this.#address,
      {
        clock: this.clock,
        random: randomOf(this.nth),
        sessionTimeout,
        dial: ({ host, port }, handler) => this.#dial(`${host}:${port}`, handler),
        onUncaughtError: error => this.tell('problem', `a callback of ${this.name} threw ${String(error)}`),
      },
      this.name,
    )
    this.#client = recorded.client
    return recorded
  }

  /** The caller goes on when the explorer chooses this step. */
  step(what: string): Promise<void> {
    return new Promise(resolve => {
      this.#next = { what, go: resolve }
    })
  }

  pause(ms: number): Promise<void> {
    return new Promise(resolve => void this.clock.setTimeout(resolve, ms))
  }

  /** Runs a call whose signal the explorer may abort. */
  async abortable<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = (this.#abort = new AbortController())
    try {
      return await call(abort.signal)
    } finally {
      if (this.#abort === abort) this.#abort = undefined
    }
  }

  tell(what: string, value?: unknown): void {
    const session = this.#client?.sessionId ?? 0n
    this.#record({ is: 'told', process: this.name, session, at: this.#time.now, what, value })
  }

  #record(event: Event | Told): void {
    this.#effects.push({ is: 'records', event, text: textOf(event) })
  }

  // What the explorer calls

  /** Gives it an input, and waits until it has nothing more to do without another one. */
  async take(input: Input): Promise<void> {
    this.#effects = []
    this.#time.now = input.at
    switch (input.is) {
      case 'started':
        void this.#program(this)
          .catch((error: unknown) => this.tell('problem', `${this.name} failed: ${describe(error)}`))
          .finally(() => (this.#isDone = true))
        break
      case 'received':
        this.#links[input.link]?.handler.received(Buffer.from(input.packet.bytes))
        break
      case 'closed':
        this.#lose(input.link)
        break
      case 'cut':
        for (const [link, { isLeft }] of this.#links.entries()) if (!isLeft) this.#lose(link)
        break
      case 'step': {
        const next = this.#next
        this.#next = undefined
        next?.go()
        break
      }
      case 'abort': {
        const abort = this.#abort
        this.#abort = undefined
        abort?.abort(this.gaveUp)
        break
      }
      case 'timers':
        await ring(this.clock)
        break
      case 'close':
        void this.#client?.close().finally(() => (this.#isClosed = true))
        break
    }
    await quiet()
  }

  get view(): View {
    const { now } = this.#time
    return {
      effects: this.#effects,
      next: this.#next?.what,
      canAbort: this.#abort !== undefined,
      isDone: this.#isDone,
      session: this.#client?.sessionId ?? 0n,
      isSuspended: this.#client?.state === 'suspended',
      isClosed: this.#isClosed,
      timerAt: this.clock.nextAt,
      timers: this.clock.pendingTimers,
      beliefs: this.recorder.holds.map(({ id, held }) => ({ id, until: now + held.validFor() })),
    }
  }

  #dial(server: string, handler: TransportHandler): Transport {
    const link = this.#links.length
    const state = { handler, isLeft: false, isNew: true }
    this.#links.push(state)
    this.#effects.push({ is: 'dials', server })
    queueMicrotask(() => {
      if (!state.isLeft) handler.opened()
    })
    return {
      write: bytes => {
        if (state.isLeft) return
        // Each frame travels alone, so that other clients' requests can come in between.
        for (const each of framesIn(bytes)) {
          this.#effects.push({ is: 'sends', link, frame: this.#packets.frame(each, state.isNew) })
          state.isNew = false
        }
      },
      destroy: () => this.#leave(link),
    }
  }

  #leave(link: number): void {
    const state = this.#links[link]
    if (state === undefined || state.isLeft) return
    state.isLeft = true
    this.#effects.push({ is: 'leaves', link })
  }

  /** The client learns that the connection is lost. What it has sent may still arrive. */
  #lose(link: number): void {
    this.#leave(link)
    this.#links[link]?.handler.closed()
  }
}

/**
 * Returns random numbers that differ from those of another process in their last digit only. So their names differ, and both wait
 * equally long before they connect again.
 */
function randomOf(nth: number): Random {
  const random = seededRandom(1000)
  return () => random() + nth / 2 ** 32
}

export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))

/** Fires the timers that are due, each in a turn of its own. */
export async function ring(clock: ProcessClock): Promise<void> {
  while (clock.isDue) {
    clock.fire()
    await quiet()
  }
}

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** Resolves when all microtasks have run: Node calls back after it has emptied their queue. It costs less than a turn. */
export const quiet = (): Promise<void> => new Promise(resolve => nextTick(resolve))
