// A simulated machine: its process can be paused, and its network to the server can be slow, blocked or cut. Time is
// virtual, and randomness is reproducible by a seed.
import { LineTiming, type Line } from '../../bench/harness/line-timing.ts'
import { Channel } from '../../site/world/channel.ts'
import { Process } from '../../site/world/process.ts'
import type { Clock, Dial, Transport, TransportHandler } from '../../src/index.ts'
import type { Random } from '../support/seeded-random.ts'

export type Direction = 'up' | 'down'

export interface MachineOptions extends Partial<Omit<Line, 'jitter'>> {
  /** Draws what each packet takes longer, ms: at most 5, but up to 200 for one packet in twenty. Default: nothing. */
  readonly random?: Random
}

const jitter = (random: Random) => Math.ceil(random() < 0.05 ? 200 * random() : 5 * random())

/** The bytes of so many milliseconds arrive together if the line has a bandwidth. */
const SLICE = 20

/** A machine, which is also the clock of the process that runs on it. */
export class Machine extends Process {
  /** A change applies to the packets that are sent later. */
  readonly line: Line
  readonly #random: Random
  readonly #connections = new Set<SimulatedConnection>()
  readonly #blocked = new Set<Direction>()
  readonly #lossy = new Set<Direction>()
  /** Packets that have arrived and have not been delivered to the process yet. */
  readonly #arrivals: (() => void)[] = []

  constructor(clock: Clock, { random = () => 0, ...line }: MachineOptions = {}) {
    super(clock)
    this.#random = random
    // One, because `jitter` draws milliseconds.
    this.line = { roundTrip: 0, jitter: 1, bandwidth: Infinity, ...line }
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

  /** Loses the bytes of all packets in these directions until {@link unblock}, although connections can be opened. */
  lose(...directions: readonly Direction[]): void {
    for (const direction of directions) this.#lossy.add(direction)
  }

  unblock(): void {
    this.#blocked.clear()
    this.#lossy.clear()
    for (const connection of this.#connections) connection.flush()
  }

  isBlocked(direction: Direction): boolean {
    return this.#blocked.has(direction)
  }

  isLossy(direction: Direction): boolean {
    return this.#lossy.has(direction)
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
  readonly #up: Way
  readonly #down: Way
  #serverSide: Transport | undefined

  constructor(machine: Machine, clock: Clock, random: Random, handler: TransportHandler, over: () => void) {
    this.#machine = machine
    this.#handler = handler
    this.#onClosed = over
    this.#up = new Way(clock, random, machine, 'up')
    this.#down = new Way(clock, random, machine, 'down')
  }

  open(dial: (near: TransportHandler) => Transport): void {
    this.#up.pass(() => {
      this.#serverSide = dial({
        opened: () => this.#down.pass(() => this.#machine.receive(() => this.#handler.opened())),
        received: chunk => this.#down.carry(chunk, bytes => this.#machine.receive(() => this.#handler.received(bytes))),
        closed: () => {
          this.#up.close()
          this.#down.pass(() => this.#close())
        },
      })
    })
  }

  write(bytes: Uint8Array): void {
    this.#up.carry(bytes, some => this.#serverSide?.write(some))
  }

  destroy(): void {
    this.#down.close()
    this.#up.pass(() => {
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

/** One direction of a connection: a channel with the line's latency. */
class Way extends Channel {
  readonly #clock: Clock
  readonly #random: Random
  readonly #line: Line
  readonly #timing: LineTiming
  readonly #isLossy: () => boolean

  constructor(clock: Clock, random: Random, machine: Machine, direction: Direction) {
    super({ clock, now: () => clock.now(), isBlocked: () => machine.isBlocked(direction) })
    this.#clock = clock
    this.#random = random
    this.#line = machine.line
    this.#timing = new LineTiming(machine.line, () => jitter(random))
    this.#isLossy = () => machine.isLossy(direction)
  }

  carry(bytes: Uint8Array, deliver: (bytes: Buffer) => void): void {
    if (this.#isLossy()) return
    const size = Math.ceil((this.#line.bandwidth * SLICE) / 8000)
    // The sender may use its buffer again.
    const copy = Buffer.from(bytes)
    for (let at = 0; at === 0 || at < copy.length; at += size) {
      const slice = copy.subarray(at, at + size)
      this.pass(() => deliver(slice), slice.length)
    }
  }

  pass(deliver: () => void, bytes = 0): void {
    if (this.isClosed) return
    const now = this.#clock.now()
    this.send(deliver, [], this.#timing.arrival(now, bytes) - now)
  }

  /** Closes the channel after a random delay and calls `onClosed`. */
  closeLater(onClosed: () => void): void {
    this.#clock.setTimeout(
      () => {
        if (this.isClosed) return
        this.close()
        onClosed()
      },
      jitter(this.#random) + 10 * this.#random(),
    )
  }
}
