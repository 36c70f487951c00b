// A model that checks the decisions of ticket.ts. It has one directory, waiters whose events and replies arrive late,
// but in order, and contenders that leave without a release. It knows the true state, and throws if a waiter takes its
// turn too early, or never, or believes in a release that has not been.
import {
  ticketName,
  tickets,
  type aheadNow,
  type aheadOf,
  type formerOf,
  type needsList,
  type TicketState,
  type StatesAhead,
} from '../../../src/recipes/locks/ticket.ts'
import { blocksAlways, turnOf, type Ahead } from '../../../src/recipes/queue/turn.ts'

export interface TicketRules {
  aheadOf: typeof aheadOf
  aheadNow: typeof aheadNow
  formerOf: typeof formerOf
  needsList: typeof needsList
  turnOf: typeof turnOf
}

/** What the server sends to one waiter. */
type Message =
  | { is: 'left'; name: string }
  | { is: 'watched'; name: string; exists: boolean }
  | { is: 'read'; released: number }
  | { is: 'listed'; children: string[] }

interface Waiter {
  readonly number: number
  state: 'waiting' | 'holding' | 'gone'
  ahead: Ahead | undefined
  /** True if a read or a list is in flight. */
  isBusy: boolean
  readonly seen: Map<string, TicketState>
  /** Tickets that the server notifies this waiter of. */
  readonly watched: Set<string>
  readonly inbox: Message[]
}

export class TicketModel {
  readonly #rules: TicketRules
  readonly #size: number
  readonly #waiters: Waiter[] = []
  readonly #log: string[] = []
  #released = -1
  /** The ticket that had its turn last. */
  #last = -1

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
      ...{ number, state: 'waiting', ahead: undefined, isBusy: true },
      ...{ seen: new Map(), watched: new Set(), inbox: [] },
    }
    this.#waiters.push(waiter)
    this.#log.push(`${number} joins`)
    waiter.inbox.push({ is: 'read', released: this.#released })
  }

  #leave(waiter: Waiter, isRelease: boolean): void {
    const { number } = waiter
    const name = ticketName(number)
    this.#log.push(`${number} ${isRelease ? 'releases' : 'leaves'}`)
    waiter.state = 'gone'
    if (isRelease) this.#released = number
    for (const other of this.#living) if (other.watched.delete(name)) other.inbox.push({ is: 'left', name })
  }

  #deliver(waiter: Waiter): void {
    const message = waiter.inbox.shift()
    if (message === undefined || waiter.state !== 'waiting') return
    this.#log.push(`${waiter.number} gets ${JSON.stringify(message)}`)
    switch (message.is) {
      case 'left':
        waiter.seen.set(message.name, 'left')
        break
      case 'watched':
        // The event may have been sent before.
        if (waiter.seen.get(message.name) === 'there' && !message.exists) waiter.seen.set(message.name, 'missing')
        break
      case 'read':
        waiter.isBusy = false
        this.#onRead(waiter, message.released)
        break
      case 'listed': {
        const list = { children: message.children, directoryCzxid: 0n }
        const own = { name: ticketName(waiter.number), czxid: 1n }
        const turn = this.#rules.turnOf(list, own, { names: tickets, blocks: blocksAlways })
        waiter.isBusy = false
        if (turn.status === 'gone') this.#fail(`${waiter.number} is not in its list`)
        if (turn.status === 'first') this.#take(waiter)
        else waiter.ahead = turn
      }
    }
    if (!waiter.isBusy) this.#decide(waiter)
  }

  /** The waiter has read which ticket was released last: when it joined, or after a change. */
  #onRead(waiter: Waiter, released: number): void {
    const { ahead, number } = waiter
    const now =
      ahead === undefined
        ? this.#rules.aheadOf(ticketName(number), released)
        : this.#rules.aheadNow(ahead, this.#seen(waiter, ahead), released)
    if (now === undefined) this.#take(waiter)
    else waiter.ahead = now
  }

  /** Watches the tickets ahead. Takes the turn if the only one is gone, and reads the directory after other changes. */
  #decide(waiter: Waiter): void {
    const { ahead, state } = waiter
    if (ahead === undefined || state !== 'waiting') return
    for (const name of [ahead.predecessor, ahead.second]) if (name !== undefined) this.#watch(waiter, name)
    const { predecessor, second } = this.#seen(waiter, ahead)
    if (predecessor !== 'there' && ahead.second === undefined) this.#take(waiter)
    else if (this.#rules.needsList({ predecessor, second }))
      this.#request(waiter, { is: 'listed', children: this.#living.map(each => ticketName(each.number)) })
    else if (predecessor !== 'there' || second !== 'there')
      this.#request(waiter, { is: 'read', released: this.#released })
  }

  #seen({ seen }: Waiter, { predecessor, second = '' }: Ahead): StatesAhead {
    return { predecessor: seen.get(predecessor) ?? 'there', second: seen.get(second) ?? 'there' }
  }

  /** The reply reflects the present state, and arrives after all messages that were sent before. */
  #request(waiter: Waiter, reply: Message): void {
    waiter.isBusy = true
    waiter.inbox.push(reply)
  }

  #watch(waiter: Waiter, name: string): void {
    if (waiter.seen.has(name)) return
    const exists = this.#living.some(each => ticketName(each.number) === name)
    waiter.seen.set(name, 'there')
    if (exists) waiter.watched.add(name)
    waiter.inbox.push({ is: 'watched', name, exists })
  }

  #take(waiter: Waiter): void {
    this.#log.push(`${waiter.number} holds`)
    const earlier = this.#living.find(({ number }) => number < waiter.number)
    if (earlier !== undefined) this.#fail(`${waiter.number} holds the lock although ${earlier.number} is before it`)
    waiter.state = 'holding'
    const former = this.#rules.formerOf(ticketName(waiter.number), waiter.ahead)
    if (former === this.#released && former !== this.#last)
      this.#fail(`${waiter.number} believes in a release by ${former}`)
    this.#last = waiter.number
  }

  #fail(what: string): never {
    throw new Error(`${what}\n${this.#log.join('\n')}`)
  }
}
