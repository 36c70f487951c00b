// The way of a session from server to server: which is tried next, and when, and when a good connection is left for another.
import type { Address, Dial } from '../transport/transport.ts'
import type { Clock } from './clock.ts'
import { backoff, HostList, keyOf, LONGEST_DELAY } from './hosts.ts'
import type { Random } from './random.ts'
import { WritableSearch } from './writable-search.ts'

export interface Traveller {
  /** Tries {@link Route.next}. */
  dial(): void
  /** Drops its connection, or its attempt at one, to be told to dial again. */
  leave(reason: string): void
}

export interface RouteSettings {
  dial: Dial
  clock: Clock
  random: Random
  attemptTimeout: number
}

export class Route {
  readonly #settings: RouteSettings
  readonly #traveller: Traveller
  readonly #hosts: HostList
  readonly #search: WritableSearch
  /** Tried last: connected to, or being dialled. */
  #current: Address | undefined
  /** To be tried before any other. */
  #preferred: Address | undefined
  /** Attempts that failed, or came to a connection that answered nothing and did not last, in a row. */
  #failures = 0
  /** On the connection that is; undefined where there is none. */
  #arrivedAt: number | undefined
  /** Those of the last of them that another attempt at the same host would not mend. */
  #hopeless = 0
  #isMoving = false
  #timer: unknown

  constructor(hosts: readonly Address[], settings: RouteSettings, traveller: Traveller) {
    this.#settings = settings
    this.#traveller = traveller
    this.#hosts = new HostList(hosts, settings.random)
    this.#search = new WritableSearch(settings, host => {
      this.#preferred = host
      this.#move(`${host.host}:${host.port} takes writes`)
    })
  }

  begin(): void {
    this.#traveller.dial()
  }

  next(): Address {
    this.#current = this.#preferred ?? this.#hosts.next()
    this.#preferred = undefined
    return this.#current
  }

  /** A server gave the session. */
  arrived(isReadOnly: boolean): void {
    this.#arrivedAt = this.#settings.clock.now()
    if (isReadOnly) this.#search.start(() => this.#others)
  }

  /** A server has answered. */
  proved(): void {
    this.#failures = 0
  }

  /**
   * The connection is over, or the attempt failed.
   * @param isFinal the same host will do the same again
   * @returns whether all hosts have failed so, one after the other
   */
  lost(isFinal: boolean): boolean {
    this.#search.stop()
    // One that ends at once and answers nothing is a failure too: two clients may be taking one session from each other.
    const { clock } = this.#settings
    if (this.#arrivedAt !== undefined && clock.now() - this.#arrivedAt >= LONGEST_DELAY) this.#failures = 0
    this.#arrivedAt = undefined
    this.#hopeless = isFinal ? this.#hopeless + 1 : 0
    return this.#hopeless >= this.#hosts.all.length
  }

  /** Has it dial again: at once where it left by choice. */
  retry(): void {
    const { clock, random } = this.#settings
    const pause = this.#isMoving ? 0 : backoff(this.#failures++, random)
    this.#isMoving = false
    this.#timer = clock.setTimeout(() => this.#traveller.dial(), pause)
  }

  /** Goes by another list of hosts, and to one of them where the load is to be spread or the present one is gone. */
  replace(hosts: readonly Address[]): void {
    const moves = this.#hosts.replace(hosts, this.#current === undefined ? [] : [this.#current])
    if (moves) this.#move('the list of servers has changed')
  }

  /** All but the present one; that, where it is alone: its name may stand for several servers. */
  get #others(): readonly Address[] {
    const { all } = this.#hosts
    const current = this.#current === undefined ? '' : keyOf(this.#current)
    const others = all.filter(host => keyOf(host) !== current)
    return others.length > 0 ? others : all
  }

  #move(reason: string): void {
    this.#isMoving = true
    this.#traveller.leave(reason)
    this.#isMoving = false
  }

  end(): void {
    this.#search.stop()
    this.#settings.clock.clearTimeout(this.#timer)
  }
}
