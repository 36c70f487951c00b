// One direction of a connection. It delivers in order, after the latency, and loses what is on its way when it closes.
import type { Clock } from '../../src/index.ts'
import type { LoggedFrame } from './frame-log.ts'

/** How long a frame takes from one end to the other, in milliseconds. */
export const LATENCY = 5

export interface ChannelOptions {
  readonly clock: Clock
  /** Returns the virtual milliseconds since the start of the world. */
  readonly now: () => number
  /** Returns true while nothing arrives. */
  readonly isBlocked: () => boolean
}

interface Packet {
  readonly deliver: () => void
  readonly frames: readonly LoggedFrame[]
}

export class Channel {
  readonly #options: ChannelOptions
  /** The packets on their way, in the order in which they were sent. */
  readonly #packets: Packet[] = []
  /** How many of them the latency has passed for. */
  #due = 0
  #isClosed = false

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** True if anything but pings is on its way. */
  get isBusy(): boolean {
    return this.#packets.some(({ frames }) => frames.length === 0 || frames.some(({ kind }) => kind !== 'ping'))
  }

  /**
   * @param frames the frames that the packet contains
   * @param latency at least that of the packet before, less the time since then
   */
  send(deliver: () => void, frames: readonly LoggedFrame[] = [], latency = LATENCY): void {
    const { clock, now } = this.#options
    if (this.#isClosed) return lose(frames, now())
    for (const frame of frames) frame.arrivesAt = now() + latency
    this.#packets.push({ deliver, frames })
    clock.setTimeout(() => {
      this.#due++
      this.flush()
    }, latency)
  }

  /** Delivers what is due. */
  flush(): void {
    const { now, isBlocked } = this.#options
    while (!this.#isClosed && this.#due > 0 && !isBlocked()) {
      this.#due--
      const { deliver, frames } = this.#packets.shift() as Packet
      for (const frame of frames) frame.arrivesAt = now()
      deliver()
    }
    for (const { frames } of this.#packets.slice(0, this.#due)) for (const frame of frames) frame.arrivesAt = Infinity
  }

  /** Loses the packets on their way, and all later ones. */
  close(): void {
    this.#isClosed = true
    for (const { frames } of this.#packets.splice(0)) lose(frames, this.#options.now())
  }
}

function lose(frames: readonly LoggedFrame[], at: number): void {
  for (const frame of frames) frame.lostAt = at
}
