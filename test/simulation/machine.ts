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
  readonly #wires = new Set<Wire>()
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
  hear(task: () => void): void {
    this.#arrivals.push(task)
    this.run(() => this.#arrivals.shift()?.())
  }

  /** The process stands still: nothing runs in it, and time passes. */
  stop(): void {
    this.#backlog ??= []
  }

  goOn(): void {
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
    for (const wire of this.#wires) wire.unblocked()
  }

  isBlocked(direction: Direction): boolean {
    return this.#blocked.has(direction)
  }

  /** Ends the connection. Each end learns of it at another time, and what is under way may or may not come. */
  cut(): void {
    for (const wire of this.#wires) wire.cut()
  }

  /** The way from here to what `dial` reaches. */
  dialThrough(dial: Dial): Dial {
    return (address, handler) => {
      const wire = new Wire(this, this.#clock, this.#random, handler, () => this.#wires.delete(wire))
      this.#wires.add(wire)
      wire.open(near => dial(address, near))
      return wire
    }
  }
}

/** One connection, from the machine's side. */
class Wire implements Transport {
  readonly #machine: Machine
  readonly #handler: TransportHandler
  readonly #over: () => void
  readonly #up: Lane
  readonly #down: Lane
  #far: Transport | undefined

  constructor(machine: Machine, clock: Clock, random: () => number, handler: TransportHandler, over: () => void) {
    this.#machine = machine
    this.#handler = handler
    this.#over = over
    this.#up = new Lane(clock, random, () => machine.isBlocked('up'))
    this.#down = new Lane(clock, random, () => machine.isBlocked('down'))
  }

  open(dial: (near: TransportHandler) => Transport): void {
    this.#up.carry(() => {
      this.#far = dial({
        opened: () => this.#down.carry(() => this.#machine.hear(() => this.#handler.opened())),
        received: chunk => this.#down.carry(() => this.#machine.hear(() => this.#handler.received(chunk))),
        closed: () => {
          this.#up.end()
          this.#down.carry(() => this.#closedHere())
        },
      })
    })
  }

  write(bytes: Uint8Array): void {
    const copy = Buffer.from(bytes)
    this.#up.carry(() => this.#far?.write(copy))
  }

  destroy(): void {
    this.#down.end()
    this.#up.carry(() => {
      this.#far?.destroy()
      this.#over()
    })
  }

  cut(): void {
    this.#up.endAfter(() => this.#far?.destroy())
    this.#down.endAfter(() => this.#closedHere())
  }

  unblocked(): void {
    this.#up.unblocked()
    this.#down.unblocked()
  }

  #closedHere(): void {
    this.#down.end()
    this.#over()
    this.#machine.hear(() => this.#handler.closed())
  }
}

/** One direction of a connection: what goes in first comes out first, later. */
class Lane {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #isBlocked: () => boolean
  /** On the way, or stuck. */
  readonly #stuck: (() => void)[] = []
  #lastAt = 0
  #isOver = false

  constructor(clock: Clock, random: () => number, isBlocked: () => boolean) {
    this.#clock = clock
    this.#random = random
    this.#isBlocked = isBlocked
  }

  carry(deliver: () => void): void {
    if (this.#isOver) return
    this.#lastAt = Math.max(this.#lastAt, this.#clock.now() + latency(this.#random))
    this.#clock.setTimeout(() => {
      this.#stuck.push(deliver)
      this.unblocked()
    }, this.#lastAt - this.#clock.now())
  }

  unblocked(): void {
    while (!this.#isBlocked() && !this.#isOver) {
      const deliver = this.#stuck.shift()
      if (deliver === undefined) return
      deliver()
    }
  }

  /** Nothing comes out any more. */
  end(): void {
    this.#isOver = true
  }

  /** The same in a while, with a last word. */
  endAfter(lastWord: () => void): void {
    this.#clock.setTimeout(
      () => {
        if (this.#isOver) return
        this.end()
        lastWord()
      },
      latency(this.#random) + 10 * this.#random(),
    )
  }
}
