// Searches for a server by a four-letter word, which concerns no session.
import type { Clock } from '../../runtime/clock.ts'
import { ask } from '../../transport/ask.ts'
import type { Address, Dial, Transport } from '../../transport/transport.ts'

const FIRST_PAUSE = 100
const QUESTION = Buffer.from('isro')
/** The answer of a server that takes writes, without a newline. A read-only server answers `ro` (IsroCommand). */
const WRITABLE = 'rw'

/** Which server is searched. */
export interface Search {
  /** Decides by the start of an answer. It is empty if the server has not answered. */
  accepts(answer: string): boolean
  /** The longest pause between two questions, in milliseconds. */
  longestPause: number
}

/** A server that takes writes, while the session is connected to a read-only one. */
export const writable: Search = { accepts: answer => answer.trim() === WRITABLE, longestPause: 60_000 }

/** A server whose answers arrive. One that may not execute the word says so (4lw.commands.whitelist). */
export const answering: Search = { accepts: answer => answer !== '', longestPause: 1000 }

export interface SearchSettings {
  dial: Dial
  clock: Clock
  /** How long one host may take to answer, in milliseconds. */
  attemptTimeout: number
}

/** Asks one host after another until one is accepted. The pauses before the questions start with 100 ms, and double. */
export class HostSearch {
  readonly #settings: SearchSettings
  readonly #search: Search
  readonly #found: (host: Address) => void
  #timer: unknown
  #asking: Transport | undefined

  constructor(settings: SearchSettings, search: Search, found: (host: Address) => void) {
    this.#settings = settings
    this.#search = search
    this.#found = found
  }

  /** @param hosts returns all hosts that may be asked; called before each probe, because the list may change */
  start(hosts: () => readonly Address[]): void {
    this.#wait(hosts, 0)
  }

  stop(): void {
    this.#settings.clock.clearTimeout(this.#timer)
    this.#asking?.destroy()
  }

  #wait(hosts: () => readonly Address[], probes: number): void {
    const pause = Math.min(this.#search.longestPause, FIRST_PAUSE * 2 ** Math.min(probes, 16))
    this.#timer = this.#settings.clock.setTimeout(() => this.#probe(hosts, probes), pause)
  }

  #probe(hosts: () => readonly Address[], probes: number): void {
    const { dial, clock, attemptTimeout } = this.#settings
    const all = hosts()
    const host = all[probes % all.length] as Address
    const until = { enough: WRITABLE.length, limit: { clock, timeout: attemptTimeout } }
    this.#asking = ask(dial, host, QUESTION, until, answer => {
      if (this.#search.accepts(answer.toString('latin1'))) this.#found(host)
      else this.#wait(hosts, probes + 1)
    })
  }
}
