// A model that checks the decisions of ticket.ts. It has one directory, sessions with stale views of it, contenders
// that advance one request at a time, and other clients that interfere. It knows the true state and throws if a
// contender gets the lock wrongly, or never gets it.
import * as ticket from '../../../src/recipes/locks/ticket.ts'
import type { Next } from '../../../src/recipes/locks/ticket.ts'

export interface TicketRules extends Pick<typeof ticket, 'onDrawn' | 'onGone' | 'onListed'> {
  /** True if a release writes the directory and deletes the ticket in one transaction; false if it deletes first. */
  releasesAtomically: boolean
}

export const rules: TicketRules = { ...ticket, releasesAtomically: true }

/** Immutable: each change of the node creates a new object. */
interface Node {
  readonly czxid: number
  readonly mzxid: number
  readonly owner: Contender
}

interface Directory {
  readonly czxid: number
  readonly nextNumber: number
  readonly lastReleased: number | undefined
  readonly nodes: ReadonlyMap<number, Node>
}

type State =
  | { at: 'start' }
  /** The ticket exists, and the directory has not been read yet. */
  | { at: 'drawn' }
  | { at: 'next'; next: Next }
  | { at: 'waiting'; ticket: number; node: Node }
  | { at: 'notified'; ticket: number; node: Node }
  | { at: 'directoryRead'; ticket: number; node: Node; released: number | undefined; view: number }
  | { at: 'holding' }
  /** The state between the two transactions of a release that is not atomic. */
  | { at: 'publishing' }
  | { at: 'done' }

interface Session {
  readonly name: string
  /** The last transaction that the session’s server has applied. */
  view: number
  /**
   * The last transaction in a reply, from which the client resumes. Events do not count (as in ZooKeeper's clients).
   */
  lastReplied: number
  isAlive: boolean
}

interface Contender {
  readonly name: string
  readonly session: Session
  state: State
  own: { number: number; czxid: number }
}

export class TicketModel {
  /** The directory after each transaction. */
  readonly #history: (Directory | undefined)[] = [undefined]
  readonly #rules: TicketRules
  readonly #sessions: Session[]
  readonly #contenders: Contender[]
  /** The transaction that released each node whose owner held the lock. */
  readonly #releasedAt = new Map<Node, number>()
  readonly #log: string[] = []

  /** @param sizes the number of contenders of each session */
  constructor(sizes: readonly number[], rules: TicketRules) {
    this.#rules = rules
    this.#sessions = sizes.map((_, i) => ({ name: `s${i}`, view: 0, lastReplied: 0, isAlive: true }))
    this.#contenders = this.#sessions.flatMap((session, i) =>
      Array.from({ length: sizes[i] ?? 0 }, (_, j): Contender => {
        return { name: `${session.name}.${j}`, session, state: { at: 'start' }, own: { number: NaN, czxid: NaN } }
      }),
    )
  }

  /** Runs one of the events that are possible now. */
  runOneEvent(choice: number): void {
    const possible = this.#possibleEvents()
    possible[choice % possible.length]?.()
  }

  /** Runs without further faults until every contender has had the lock; throws if one waits forever. */
  drain(): void {
    for (let round = 0; round < 40 * this.#contenders.length; round++) {
      for (const session of this.#sessions) while (session.view < this.#lastZxid) this.#catchUp(session)
      const busy = this.#contenders.filter(each => each.session.isAlive && each.state.at !== 'done')
      if (busy.length === 0) return
      for (const each of busy) this.#advance(each)
    }
    this.#fail('a contender waits forever')
  }

  get #lastZxid(): number {
    return this.#history.length - 1
  }

  get #current(): Directory | undefined {
    return this.#history[this.#lastZxid]
  }

  #possibleEvents(): (() => void)[] {
    const possible: (() => void)[] = []
    const addOften = (event: () => void) => possible.push(event, event, event)
    for (const each of this.#contenders) {
      const { session, state } = each
      if (!session.isAlive || state.at === 'done') continue
      if (state.at !== 'waiting') addOften(() => this.#advance(each))
      if (!['start', 'holding', 'publishing'].includes(state.at)) possible.push(() => this.#cancel(each))
    }
    for (const session of this.#sessions.filter(({ isAlive }) => isAlive)) {
      if (session.view < this.#lastZxid) addOften(() => this.#catchUp(session))
      for (const lag of [0, 1, 3]) possible.push(() => this.#reconnect(session, lag))
    }
    const alive = this.#sessions.filter(({ isAlive }) => isAlive)
    if (alive.length > 1) for (const session of alive) possible.push(() => this.#expire(session))
    for (const number of this.#current?.nodes.keys() ?? []) {
      possible.push(() => this.#interfere('deletes', number))
      possible.push(() => this.#interfere('touches', number))
    }
    if (this.#current !== undefined) possible.push(() => this.#deleteDirectory())
    return possible
  }

  // Actions of contenders

  #advance(self: Contender): void {
    const { state, session } = self
    switch (state.at) {
      case 'start':
        return this.#createTicket(self)
      case 'drawn': {
        const directory = this.#read(session)
        const isOurs = directory !== undefined && directory.czxid < self.own.czxid
        return this.#decide(self, this.#rules.onDrawn(self.own.number, { isOurs, released: directory?.lastReleased }))
      }
      case 'next':
        return this.#execute(self, state.next)
      case 'notified':
        return this.#setState(self, {
          ...state,
          at: 'directoryRead',
          released: this.#read(session)?.lastReleased,
          view: session.view,
        })
      case 'directoryRead': {
        const isOurs = this.#read(session)?.nodes.get(self.own.number)?.czxid === self.own.czxid
        const next = this.#rules.onGone(state.ticket, { isOurs, released: state.released })
        const releasedAt = this.#releasedAt.get(state.node) ?? Infinity
        if (next.do === 'list' && isOurs && releasedAt <= state.view)
          this.#fail(`${self.name} needs a list although the holder before it has released its ticket`)
        return this.#decide(self, next)
      }
      case 'holding':
        return this.#release(self)
      case 'publishing':
        this.#write(`${self.name} writes the directory`, now => now && { ...now, lastReleased: self.own.number })
        return this.#setState(self, { at: 'done' })
    }
  }

  #createTicket(self: Contender): void {
    if (this.#current === undefined)
      this.#write(`${self.name} creates the directory`, (_, czxid) => {
        return { czxid, nextNumber: 0, lastReleased: undefined, nodes: new Map() }
      })
    this.#write(`${self.name} creates a ticket`, (now, czxid) => {
      if (now === undefined) return now
      self.own = { number: now.nextNumber, czxid }
      const nodes = new Map(now.nodes).set(now.nextNumber, { czxid, mzxid: czxid, owner: self })
      return { ...now, nextNumber: now.nextNumber + 1, nodes }
    })
    // A reply shows that the session's server has applied its write.
    while (self.session.view < this.#lastZxid) this.#catchUp(self.session)
    self.session.lastReplied = this.#lastZxid
    this.#setState(self, { at: 'drawn' })
  }

  #execute(self: Contender, next: Next): void {
    const { session, own } = self
    switch (next.do) {
      case 'hold':
        return
      case 'draw':
        this.#deleteTicket(self)
        return this.#setState(self, { at: 'start' })
      case 'watch': {
        const node = this.#read(session)?.nodes.get(next.ticket)
        if (node === undefined) return this.#setState(self, { at: 'next', next: { do: 'list' } })
        return this.#setState(self, { at: 'waiting', ticket: next.ticket, node })
      }
      case 'list': {
        const directory = this.#read(session)
        const children = [...(directory?.nodes.keys() ?? [])].map(ticket.ticketName)
        const isOurs = directory !== undefined && directory.czxid < own.czxid
        return this.#decide(self, this.#rules.onListed(own.number, { isOurs, children }))
      }
    }
  }

  #decide(self: Contender, next: Next): void {
    if (next.do !== 'hold') return this.#setState(self, { at: 'next', next })
    const wasDrawn = self.state.at === 'drawn'
    this.#setState(self, { at: 'holding' })
    if (this.#hasTicket(self) && !this.#isFirst(self, this.#current))
      this.#fail(`${self.name} gets the lock while an earlier ticket exists`)
    const since = this.#history.slice(self.own.czxid, self.session.view + 1)
    if (since.some(directory => hasTicketIn(self, directory) && this.#isFirst(self, directory))) return
    // Another client may delete a ticket between its creation and the first read, as it may delete a holder's.
    const firstRead = this.#history[self.session.view]
    if (wasDrawn && firstRead !== undefined && firstRead.czxid < self.own.czxid && this.#isFirst(self, firstRead))
      return
    this.#fail(`${self.name} gets the lock although its ticket was never the first`)
  }

  #isFirst({ own }: Contender, directory: Directory | undefined): boolean {
    return [...(directory?.nodes.keys() ?? [])].every(number => number >= own.number)
  }

  #cancel(self: Contender): void {
    this.#deleteTicket(self)
    this.#setState(self, { at: 'done' })
  }

  /** Deletes the node if it is the contender's own. The model has no interference between the check and the delete. */
  #deleteTicket(self: Contender): void {
    if (this.#hasTicket(self)) this.#delete(`${self.name} deletes`, self.own.number)
  }

  #release(self: Contender): void {
    const node = this.#current?.nodes.get(self.own.number)
    if (node === undefined || !this.#hasTicket(self)) return this.#setState(self, { at: 'done' })
    this.#delete(`${self.name} releases`, self.own.number, this.#rules.releasesAtomically)
    this.#releasedAt.set(node, this.#lastZxid)
    this.#setState(self, { at: this.#rules.releasesAtomically ? 'done' : 'publishing' })
  }

  #hasTicket(self: Contender): boolean {
    return hasTicketIn(self, this.#current)
  }

  // Faults and interference

  #expire(session: Session): void {
    session.isAlive = false
    this.#write(`${session.name} expires`, now => {
      return now && { ...now, nodes: new Map([...now.nodes].filter(([, { owner }]) => owner.session !== session)) }
    })
  }

  #interfere(action: 'deletes' | 'touches', number: number): void {
    const node = this.#current?.nodes.get(number)
    if (node === undefined) return
    if (action === 'deletes') return this.#delete('another client deletes', number)
    this.#write(`another client touches ${number}`, (now, mzxid) => {
      return now && { ...now, nodes: new Map(now.nodes).set(number, { ...node, mzxid }) }
    })
    const releasedAt = this.#releasedAt.get(node)
    const touched = this.#current?.nodes.get(number)
    if (releasedAt !== undefined && touched !== undefined) this.#releasedAt.set(touched, releasedAt)
  }

  #deleteDirectory(): void {
    for (const number of [...(this.#current?.nodes.keys() ?? [])].reverse())
      this.#delete('another client deletes', number)
    this.#write('another client deletes the directory', () => undefined)
  }

  /** The session's server applies one more transaction and sends the events of its watches. */
  #catchUp(session: Session): void {
    const [before, after] = [this.#history[session.view], this.#history[++session.view]]
    for (const each of this.#waitersOf(session))
      if (before?.nodes.get(each.state.ticket) !== after?.nodes.get(each.state.ticket)) this.#notify(each)
  }

  /**
   * Connects to another server, which has applied at least the replied transactions. Requests in flight are sent again.
   */
  #reconnect(session: Session, lag: number): void {
    session.view = Math.max(session.lastReplied, this.#lastZxid - lag)
    this.#log.push(`${session.name} reconnects at ${session.view}`)
    for (const each of this.#contenders.filter(other => other.session === session)) {
      const { state } = each
      if (state.at === 'notified' || state.at === 'directoryRead')
        this.#setState(each, { at: 'next', next: { do: 'watch', ticket: state.ticket } })
    }
    // setWatches: the server compares the nodes with the session's last reply.
    for (const each of this.#waitersOf(session)) {
      const node = this.#history[session.view]?.nodes.get(each.state.ticket)
      if (node === undefined || node.mzxid > session.lastReplied) this.#notify(each)
    }
  }

  #waitersOf(session: Session) {
    return this.#contenders.filter(
      (each): each is Contender & { state: { at: 'waiting'; ticket: number; node: Node } } =>
        each.session === session && each.state.at === 'waiting',
    )
  }

  #notify(self: Contender & { state: { at: 'waiting'; ticket: number; node: Node } }): void {
    this.#setState(self, { ...self.state, at: 'notified' })
  }

  // The tree and its log

  #read(session: Session): Directory | undefined {
    session.lastReplied = session.view
    return this.#history[session.view]
  }

  #write(what: string, change: (now: Directory | undefined, zxid: number) => Directory | undefined): void {
    const zxid = this.#history.length
    this.#history.push(change(this.#current, zxid))
    this.#log.push(`${zxid}: ${what}`)
  }

  #delete(what: string, number: number, isRelease = false): void {
    this.#write(`${what} ${number}`, now => {
      if (now === undefined) return now
      const nodes = new Map(now.nodes)
      nodes.delete(number)
      return { ...now, nodes, ...(isRelease && { lastReleased: number }) }
    })
  }

  #setState(self: Contender, state: State): void {
    this.#log.push(`${self.name} ${state.at}${state.at === 'next' ? ` ${JSON.stringify(state.next)}` : ''}`)
    self.state = state
  }

  #fail(what: string): never {
    throw new Error(`${what}\n${this.#log.join('\n')}`)
  }
}

/** Returns whether the directory has the contender's own ticket, not another one of the same name. */
const hasTicketIn = ({ own }: Contender, directory: Directory | undefined): boolean =>
  directory?.nodes.get(own.number)?.czxid === own.czxid
