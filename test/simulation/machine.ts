// A machine in a simulated world: a process on it that may stand still, and its way to the server, which may be slow, blocked or cut. All of
// it in virtual time, and by chance that a seed makes again.
import type { Clock, Dial, Transport, TransportHandler } from '../../src/index.ts'

export type Direction = 'up' | 'down'

/** How long a packet takes, ms: most are fast, and one in twenty is not. */
const latency = (random: () => number) => Math.ceil(random() < 0.05 ? 200 * random() : 5 * random())

/** It is the clock of what runs on it. */
export class Machine implements Clock {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #connections = new Set<SimulatedConnection>()
  readonly #blocked = new Set<Direction>()
  /** What is to run when the process no longer stands still. */
  #backlog: (() => void)[] | undefined
  /** What came, and was not heard yet. */
  readonly #arrivals: (() => void)[] = []

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  now(): number {
    return this.#clock.now()
  }

  wallNow(): number {
    return this.#clock.wallNow()
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const timer = { isSet: true, inner: undefined as unknown }
    const fire = () => {
      if (timer.isSet) callback()
    }
    timer.inner = this.#clock.setTimeout(() => this.run(fire), ms)
    return timer
  }

  clearTimeout(timer: unknown): void {
    if (timer === undefined) return
    const { inner } = Object.assign(timer as { inner: unknown }, { isSet: false })
    this.#clock.clearTimeout(inner)
  }

  sleep(ms: number): Promise<void> {
    return new Promise(resolve => void this.setTimeout(resolve, ms))
  }

  /** Calls into the process, now or when it goes on. */
  run(task: () => void): void {
    if (this.#backlog === undefined) task()
    else this.#backlog.push(task)
  }

  /** As {@link run}, of what came by the network: whatever comes in between, it is heard in the order in which it came. */
  receive(task: () => void): void {
    this.#arrivals.push(task)
    this.run(() => this.#arrivals.shift()?.())
  }

  /** The process stands still: nothing runs in it, and time passes. */
  pause(): void {
    this.#backlog ??= []
  }

  resume(): void {
    const backlog = this.#backlog ?? []
    this.#backlog = undefined
    // Each in a turn of its own, as an event loop does, and whatever comes meanwhile may come in between.
    for (const task of backlog) this.#clock.setTimeout(() => this.run(task), 0)
  }

  /** From now on no packet passes in that direction; none is lost. */
  block(direction: Direction): void {
    this.#blocked.add(direction)
  }

  unblock(): void {
    this.#blocked.clear()
    for (const wire of this.#connections) wire.flush()
  }

  isBlocked(direction: Direction): boolean {
    return this.#blocked.has(direction)
  }

  /** Ends the connection. Each end learns of it at another time, and what is under way may or may not come. */
  cut(): void {
    for (const wire of this.#connections) wire.cut()
  }

  /** The way from here to what `dial` reaches. */
  dialThrough(dial: Dial): Dial {
    return (address, handler) => {
      const wire = new SimulatedConnection(this, this.#clock, this.#random, handler, () =>
        this.#connections.delete(wire),
      )
      this.#connections.add(wire)
      wire.open(near => dial(address, near))
      return wire
    }
  }
}

/** One connection, from the machine's side. */
class SimulatedConnection implements Transport {
  readonly #machine: Machine
  readonly #handler: TransportHandler
  readonly #onClosed: () => void
  readonly #up: Channel
  readonly #down: Channel
  #serverSide: Transport | undefined

  constructor(machine: Machine, clock: Clock, random: () => number, handler: TransportHandler, over: () => void) {
    this.#machine = machine
    this.#handler = handler
    this.#onClosed = over
    this.#up = new Channel(clock, random, () => machine.isBlocked('up'))
    this.#down = new Channel(clock, random, () => machine.isBlocked('down'))
  }

  open(dial: (near: TransportHandler) => Transport): void {
    this.#up.send(() => {
      this.#serverSide = dial({
        opened: () => this.#down.send(() => this.#machine.receive(() => this.#handler.opened())),
        received: chunk => this.#down.send(() => this.#machine.receive(() => this.#handler.received(chunk))),
        closed: () => {
          this.#up.close()
          this.#down.send(() => this.#close())
        },
      })
    })
  }

  write(bytes: Uint8Array): void {
    const copy = Buffer.from(bytes)
    this.#up.send(() => this.#serverSide?.write(copy))
  }

  destroy(): void {
    this.#down.close()
    this.#up.send(() => {
      this.#serverSide?.destroy()
      this.#onClosed()
    })
  }

  cut(): void {
    this.#up.closeLater(() => this.#serverSide?.destroy())
    this.#down.closeLater(() => this.#close())
  }

  flush(): void {
    this.#up.flush()
    this.#down.flush()
  }

  #close(): void {
    this.#down.close()
    this.#onClosed()
    this.#machine.receive(() => this.#handler.closed())
  }
}

/** One direction of a connection: what goes in first comes out first, later. */
class Channel {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #isBlocked: () => boolean
  /** On the way, or stuck. */
  readonly #queue: (() => void)[] = []
  #lastAt = 0
  #isClosed = false

  constructor(clock: Clock, random: () => number, isBlocked: () => boolean) {
    this.#clock = clock
    this.#random = random
    this.#isBlocked = isBlocked
  }

  send(deliver: () => void): void {
    if (this.#isClosed) return
    this.#lastAt = Math.max(this.#lastAt, this.#clock.now() + latency(this.#random))
    this.#clock.setTimeout(() => {
      this.#queue.push(deliver)
      this.flush()
    }, this.#lastAt - this.#clock.now())
  }

  flush(): void {
    while (!this.#isBlocked() && !this.#isClosed) {
      const deliver = this.#queue.shift()
      if (deliver === undefined) return
      deliver()
    }
  }

  /** Nothing comes out any more. */
  close(): void {
    this.#isClosed = true
  }

  /** The same in a while, with a last word. */
  closeLater(lastWord: () => void): void {
    this.#clock.setTimeout(
      () => {
        if (this.#isClosed) return
        this.close()
        lastWord()
      },
      latency(this.#random) + 10 * this.#random(),
    )
  }
}
