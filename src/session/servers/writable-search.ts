// Searches for a server that takes writes, while the session is connected to a read-only one.
import type { Clock } from '../../runtime/clock.ts'
import type { Address, Dial, Transport } from '../../transport/transport.ts'

const FIRST_PAUSE = 100
const LONGEST_PAUSE = 60_000
const QUESTION = Buffer.from('isro')
/** The answer of a server that takes writes, without a newline. A read-only server answers `ro` (IsroCommand). */
const WRITABLE = 'rw'

export interface SearchSettings {
  dial: Dial
  clock: Clock
  /** How long one host may take to answer, in milliseconds. */
  attemptTimeout: number
}

/**
 * Asks one host after another until one accepts writes. The pauses before the questions start with 100 ms, and double
 * up to a minute.
 */
export class WritableSearch {
  readonly #settings: SearchSettings
  readonly #found: (host: Address) => void
  #timer: unknown
  #transport: Transport | undefined
  /** Counts each probe and each stop. A callback of a probe is ignored if the count has changed since its start. */
  #turn = 0

  constructor(settings: SearchSettings, found: (host: Address) => void) {
    this.#settings = settings
    this.#found = found
  }

  /** @param hosts returns all hosts that may be asked; called before each probe, because the list may change */
  start(hosts: () => readonly Address[]): void {
    this.stop()
    this.#wait(hosts, 0)
  }

  stop(): void {
    this.#turn++
    this.#settings.clock.clearTimeout(this.#timer)
    this.#transport?.destroy()
    this.#transport = undefined
  }

  #wait(hosts: () => readonly Address[], probes: number): void {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(probes, 16))
    this.#timer = this.#settings.clock.setTimeout(() => this.#probe(hosts, probes), pause)
  }

  #probe(hosts: () => readonly Address[], probes: number): void {
    const { dial, clock, attemptTimeout } = this.#settings
    const all = hosts()
    const host = all[probes % all.length] as Address
    const turn = ++this.#turn
    let answer = ''
    const over = () => {
      if (turn !== this.#turn) return
      this.stop()
      if (answer.trim() === WRITABLE) this.#found(host)
      else this.#wait(hosts, probes + 1)
    }
    this.#timer = clock.setTimeout(over, attemptTimeout)
    this.#transport = dial(host, {
      opened: () => {
        if (turn === this.#turn) this.#transport?.write(QUESTION)
      },
      received: chunk => {
        answer = (answer + chunk.toString('latin1')).slice(0, LONGEST_ANSWER)
        if (answer.length >= WRITABLE.length) over()
      },
      closed: over,
    })
  }
}

const LONGEST_ANSWER = 16
