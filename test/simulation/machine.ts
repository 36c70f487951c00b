// A simulated machine: its process can be paused, and its network to the server can be slow, blocked or cut. Time is
// virtual, and randomness is reproducible by a seed.
import { Process } from '../../site/world/process.ts'
import type { Clock, Dial, Transport, TransportHandler } from '../../src/index.ts'

export type Direction = 'up' | 'down'

/** The latency of a packet, ms: at most 5, but up to 200 for one packet in twenty. */
const latency = (random: () => number) => Math.ceil(random() < 0.05 ? 200 * random() : 5 * random())

/** A machine, which is also the clock of the process that runs on it. */
export class Machine extends Process {
  readonly #random: () => number
  readonly #connections = new Set<SimulatedConnection>()
  readonly #blocked = new Set<Direction>()
  /** Packets that have arrived and have not been delivered to the process yet. */
  readonly #arrivals: (() => void)[] = []

  constructor(clock: Clock, random: () => number) {
    super(clock)
    this.#random = random
  }

  /**
   * Like {@link run}, for packets: they are delivered in the order of their arrival even if other tasks run in between.
   */
  receive(task: () => void): void {
    this.#arrivals.push(task)
    this.run(() => this.#arrivals.shift()?.())
  }

  /** Runs what the process has missed, each task in a separate turn, so that new packets can arrive in between. */
  override resume(): void {
    for (const task of this.takeBacklog()) this.clock.setTimeout(() => this.run(task), 0)
  }

  /** Delays all packets in a direction until {@link unblock}; none is lost. */
  block(direction: Direction): void {
    this.#blocked.add(direction)
  }

  unblock(): void {
    this.#blocked.clear()
    for (const connection of this.#connections) connection.flush()
  }

  isBlocked(direction: Direction): boolean {
    return this.#blocked.has(direction)
  }

  /** Ends all connections. Each end is notified at a different time, and packets in flight may be lost. */
  cut(): void {
    for (const connection of this.#connections) connection.cut()
  }

  /** Returns a dial that connects by `dial` through this machine's network. */
  dialThrough(dial: Dial): Dial {
    return (address, handler) => {
      const connection = new SimulatedConnection(this, this.clock, this.#random, handler, () =>
        this.#connections.delete(connection),
      )
      this.#connections.add(connection)
      connection.open(near => dial(address, near))
      return connection
    }
  }
}

/** One connection of the machine. */
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

/** One direction of a connection: it delivers in order, after a random latency. */
class Channel {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #isBlocked: () => boolean
  /** Packets whose latency has passed and that are not delivered yet. */
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

  /** Drops all packets from now on. */
  close(): void {
    this.#isClosed = true
  }

  /** Closes the channel after a random delay and calls `onClosed`. */
  closeLater(onClosed: () => void): void {
    this.#clock.setTimeout(
      () => {
        if (this.#isClosed) return
        this.close()
        onClosed()
      },
      latency(this.#random) + 10 * this.#random(),
    )
  }
}
