// A model that checks the decisions of ticket.ts. It has one directory, waiters whose events and replies arrive late,
// but in order, and contenders that leave without a release. It knows the true state, and throws if a waiter takes its
// turn too early, or never.
import type * as ticket from '../../../src/recipes/locks/ticket.ts'
import { ticketName, type Ahead, type Seen } from '../../../src/recipes/locks/ticket.ts'

export type TicketRules = Pick<typeof ticket, 'aheadOf' | 'onSeen' | 'onLeft' | 'onRead' | 'onListed'>

/** What the server sends to one waiter. */
type Message =
  | { is: 'left'; number: number }
  | { is: 'watched'; number: number; exists: boolean }
  | { is: 'read'; released: number | undefined; use: 'aheadOf' | 'onLeft' | 'onRead' }
  | { is: 'listed'; children: string[] }

interface Waiter {
  readonly number: number
  state: 'waiting' | 'holding' | 'gone'
  ahead: Ahead | undefined
  released: number | undefined
  /** True if a read or a list is in flight. */
  isBusy: boolean
  readonly seen: Map<number, Seen>
  /** Tickets that the server notifies this waiter of. */
  readonly watched: Set<number>
  readonly inbox: Message[]
}

export class TicketModel {
  readonly #rules: TicketRules
  readonly #size: number
  readonly #waiters: Waiter[] = []
  readonly #log: string[] = []
  #released: number | undefined

  /** @param size the number of contenders that join in all */
  constructor(size: number, rules: TicketRules) {
    this.#size = size
    this.#rules = rules
  }

  /** Runs one of the events that are possible now. */
  runOneEvent(choice: number): void {
    const possible = this.#possibleEvents()
    possible[choice % possible.length]?.()
  }

  /** Runs without further departures until every contender has had the lock; throws if one waits forever. */
  drain(): void {
    for (let round = 0; round < 100 * this.#size; round++) {
      if (this.#waiters.length < this.#size) this.#join()
      for (const waiter of this.#waiters) {
        while (waiter.inbox.length > 0) this.#deliver(waiter)
        if (waiter.state === 'holding') this.#leave(waiter, true)
      }
      if (this.#waiters.length === this.#size && this.#living.length === 0) return
    }
    this.#fail('a contender waits forever')
  }

  get #living(): Waiter[] {
    return this.#waiters.filter(({ state }) => state !== 'gone')
  }

  #possibleEvents(): (() => void)[] {
    const possible: (() => void)[] = []
    const add = (times: number, event: () => void) => possible.push(...Array.from({ length: times }, () => event))
    if (this.#waiters.length < this.#size) add(6, () => this.#join())
    for (const waiter of this.#living) {
      if (waiter.inbox.length > 0) add(12, () => this.#deliver(waiter))
      if (waiter.state === 'holding') add(2, () => this.#leave(waiter, true))
      // Its call is cancelled, its session expires, or another client deletes its ticket.
      add(1, () => this.#leave(waiter, false))
    }
    return possible
  }

  #join(): void {
    const number = this.#waiters.length
    const waiter: Waiter = {
      ...{ number, state: 'waiting', ahead: undefined, released: undefined, isBusy: true },
      ...{ seen: new Map(), watched: new Set(), inbox: [] },
    }
    this.#waiters.push(waiter)
    this.#log.push(`${number} joins`)
    waiter.inbox.push({ is: 'read', released: this.#released, use: 'aheadOf' })
  }

  #leave(waiter: Waiter, isRelease: boolean): void {
    const { number } = waiter
    this.#log.push(`${number} ${isRelease ? 'releases' : 'leaves'}`)
    waiter.state = 'gone'
    if (isRelease) this.#released = number
    for (const other of this.#living) if (other.watched.delete(number)) other.inbox.push({ is: 'left', number })
  }

  #deliver(waiter: Waiter): void {
    const message = waiter.inbox.shift()
    if (message === undefined || waiter.state !== 'waiting') return
    this.#log.push(`${waiter.number} gets ${JSON.stringify(message)}`)
    switch (message.is) {
      case 'left':
        waiter.seen.set(message.number, 'left')
        break
      case 'watched':
        // The event may have been sent before.
        if (waiter.seen.get(message.number) === 'pending')
          waiter.seen.set(message.number, message.exists ? 'there' : 'missing')
        break
      case 'read': {
        const { released, use } = message
        waiter.isBusy = false
        waiter.released = released
        if (use === 'aheadOf') waiter.ahead = this.#rules.aheadOf(waiter.number, released)
        else if (waiter.ahead !== undefined) waiter.ahead = this.#rules[use](waiter.ahead, released)
        if (use === 'onLeft' && this.#readsAgain(waiter)) return
        break
      }
      case 'listed': {
        const listed = this.#rules.onListed(waiter.number, message.children)
        waiter.isBusy = false
        if (listed === 'gone') this.#fail(`${waiter.number} is not in its list`)
        waiter.ahead = listed === 'first' ? undefined : listed
        if (this.#readsAgain(waiter)) return
      }
    }
    if (!waiter.isBusy) this.#decide(waiter)
  }

  /** The waiter watches another second ticket, and reads the directory together with that. */
  #readsAgain(waiter: Waiter): boolean {
    const { ahead } = waiter
    if (ahead?.second === undefined || ['left', 'missing'].includes(this.#see(waiter, ahead.nearest))) return false
    this.#see(waiter, ahead.second)
    this.#request(waiter, { is: 'read', released: this.#released, use: 'onRead' })
    return true
  }

  #decide(waiter: Waiter): void {
    const { ahead, released } = waiter
    if (ahead === undefined) return this.#take(waiter)
    const nearest = this.#see(waiter, ahead.nearest)
    const second = ahead.second === undefined ? 'missing' : this.#see(waiter, ahead.second)
    const step = this.#rules.onSeen(ahead, { nearest, second }, released)
    switch (step.do) {
      case 'wait':
        return
      case 'take':
        return this.#take(waiter)
      case 'read':
        return this.#request(waiter, { is: 'read', released: this.#released, use: 'onLeft' })
      case 'pass':
        waiter.ahead = step.ahead
        if (!this.#readsAgain(waiter)) this.#decide(waiter)
        return
      case 'list':
        this.#request(waiter, { is: 'listed', children: this.#living.map(({ number }) => ticketName(number)) })
    }
  }

  /** The reply reflects the present state, and arrives after all messages that were sent before. */
  #request(waiter: Waiter, reply: Message): void {
    waiter.isBusy = true
    waiter.inbox.push(reply)
  }

  #see(waiter: Waiter, number: number): Seen {
    const known = waiter.seen.get(number)
    if (known !== undefined) return known
    const exists = this.#living.some(each => each.number === number)
    waiter.seen.set(number, 'pending')
    if (exists) waiter.watched.add(number)
    waiter.inbox.push({ is: 'watched', number, exists })
    return 'pending'
  }

  #take(waiter: Waiter): void {
    this.#log.push(`${waiter.number} holds`)
    const earlier = this.#living.find(({ number }) => number < waiter.number)
    if (earlier !== undefined) this.#fail(`${waiter.number} holds the lock although ${earlier.number} is before it`)
    waiter.state = 'holding'
  }

  #fail(what: string): never {
    throw new Error(`${what}\n${this.#log.join('\n')}`)
  }
}
