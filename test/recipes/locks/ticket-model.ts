// A small world for the decisions of ticket.ts: one directory, sessions that see it late, contenders that are stepped one question at a time,
// and outsiders. It knows the truth, and says when somebody is let in who should not be, or nobody is.
import * as ticket from '../../../src/recipes/locks/ticket.ts'
import type { Next } from '../../../src/recipes/locks/ticket.ts'

export interface TicketRules extends Pick<typeof ticket, 'onDrawn' | 'onGone' | 'onListed'> {
  /** A release is one transaction: what it writes into the directory, and the delete. Otherwise the delete comes first. */
  releasesAtomically: boolean
}

export const rules: TicketRules = { ...ticket, releasesAtomically: true }

/** A new object whenever it changes. */
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
  /** The ticket is drawn, the directory not yet read. */
  | { at: 'drawn' }
  | { at: 'next'; next: Next }
  | { at: 'waiting'; ticket: number; node: Node }
  | { at: 'woken'; ticket: number; node: Node }
  | { at: 'looked'; ticket: number; node: Node; released: number | undefined; view: number }
  | { at: 'holding' }
  /** With two transactions for a release: between them. */
  | { at: 'telling' }
  | { at: 'done' }

interface Session {
  readonly name: string
  /** The transaction up to which its server has come. */
  view: number
  /** The last one that an answer told of; events do not count (ZooKeeper's clients resume from here). */
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
  /** By which transaction a node was given back as of one who has held the lock. */
  readonly #releasedAt = new Map<Node, number>()
  readonly #log: string[] = []

  /** @param sizes how many contenders each session has */
  constructor(sizes: readonly number[], ruling: TicketRules) {
    this.#rules = ruling
    this.#sessions = sizes.map((_, i) => ({ name: `s${i}`, view: 0, lastReplied: 0, isAlive: true }))
    this.#contenders = this.#sessions.flatMap((session, i) =>
      Array.from({ length: sizes[i] ?? 0 }, (_, j): Contender => {
        return { name: `${session.name}.${j}`, session, state: { at: 'start' }, own: { number: NaN, czxid: NaN } }
      }),
    )
  }

  /** One thing happens, of all that could. */
  runOneEvent(choice: number): void {
    const possible = this.#possibleEvents()
    possible[choice % possible.length]?.()
  }

  /** No more faults: everybody has to get the lock in the end. */
  drain(): void {
    for (let round = 0; round < 40 * this.#contenders.length; round++) {
      for (const session of this.#sessions) while (session.view < this.#lastZxid) this.#catchUp(session)
      const busy = this.#contenders.filter(each => each.session.isAlive && each.state.at !== 'done')
      if (busy.length === 0) return
      for (const each of busy) this.#step(each)
    }
    this.#fail('somebody waits for ever')
  }

  get #lastZxid(): number {
    return this.#history.length - 1
  }

  get #current(): Directory | undefined {
    return this.#history[this.#lastZxid]
  }

  #possibleEvents(): (() => void)[] {
    const possible: (() => void)[] = []
    const often = (act: () => void) => possible.push(act, act, act)
    for (const each of this.#contenders) {
      const { session, state } = each
      if (!session.isAlive || state.at === 'done') continue
      if (state.at !== 'waiting') often(() => this.#step(each))
      if (!['start', 'holding', 'telling'].includes(state.at)) possible.push(() => this.#cancel(each))
    }
    for (const session of this.#sessions.filter(({ isAlive }) => isAlive)) {
      if (session.view < this.#lastZxid) often(() => this.#catchUp(session))
      for (const lag of [0, 1, 3]) possible.push(() => this.#reconnect(session, lag))
    }
    const last = this.#sessions.filter(({ isAlive }) => isAlive)
    if (last.length > 1) for (const session of last) possible.push(() => this.#expire(session))
    for (const number of this.#current?.nodes.keys() ?? []) {
      possible.push(() => this.#outsider('deletes', number))
      possible.push(() => this.#outsider('touches', number))
    }
    if (this.#current !== undefined) possible.push(() => this.#deleteDirectory())
    return possible
  }

  // What contenders do

  #step(me: Contender): void {
    const { state, session } = me
    switch (state.at) {
      case 'start':
        return this.#draw(me)
      case 'drawn': {
        const directory = this.#read(session)
        const isOurs = directory !== undefined && directory.czxid < me.own.czxid
        return this.#decide(me, this.#rules.onDrawn(me.own.number, { isOurs, released: directory?.lastReleased }))
      }
      case 'next':
        return this.#execute(me, state.next)
      case 'woken':
        return this.#setState(me, {
          ...state,
          at: 'looked',
          released: this.#read(session)?.lastReleased,
          view: session.view,
        })
      case 'looked': {
        const isOurs = this.#read(session)?.nodes.get(me.own.number)?.czxid === me.own.czxid
        const next = this.#rules.onGone(state.ticket, { isOurs, released: state.released })
        const given = this.#releasedAt.get(state.node) ?? Infinity
        if (next.do === 'list' && isOurs && given <= state.view)
          this.#fail(`${me.name} needs a list behind a holder who gave his ticket back`)
        return this.#decide(me, next)
      }
      case 'holding':
        return this.#release(me)
      case 'telling':
        this.#write(`${me.name} tells`, now => now && { ...now, lastReleased: me.own.number })
        return this.#setState(me, { at: 'done' })
    }
  }

  #draw(me: Contender): void {
    if (this.#current === undefined)
      this.#write(`${me.name} makes the directory`, (_, czxid) => {
        return { czxid, nextNumber: 0, lastReleased: undefined, nodes: new Map() }
      })
    this.#write(`${me.name} draws`, (now, czxid) => {
      if (now === undefined) return now
      me.own = { number: now.nextNumber, czxid }
      const nodes = new Map(now.nodes).set(now.nextNumber, { czxid, mzxid: czxid, owner: me })
      return { ...now, nextNumber: now.nextNumber + 1, nodes }
    })
    // Its server has come as far as the session's own write.
    while (me.session.view < this.#lastZxid) this.#catchUp(me.session)
    me.session.lastReplied = this.#lastZxid
    this.#setState(me, { at: 'drawn' })
  }

  #execute(me: Contender, next: Next): void {
    const { session, own } = me
    switch (next.do) {
      case 'hold':
        return
      case 'draw':
        this.#deleteTicket(me)
        return this.#setState(me, { at: 'start' })
      case 'watch': {
        const node = this.#read(session)?.nodes.get(next.ticket)
        if (node === undefined) return this.#setState(me, { at: 'next', next: { do: 'list' } })
        return this.#setState(me, { at: 'waiting', ticket: next.ticket, node })
      }
      case 'list': {
        const directory = this.#read(session)
        const children = [...(directory?.nodes.keys() ?? [])].map(ticket.ticketName)
        const isOurs = directory !== undefined && directory.czxid < own.czxid
        return this.#decide(me, this.#rules.onListed(own.number, { isOurs, children }))
      }
    }
  }

  #decide(me: Contender, next: Next): void {
    if (next.do !== 'hold') return this.#setState(me, { at: 'next', next })
    const wasDrawn = me.state.at === 'drawn'
    this.#setState(me, { at: 'holding' })
    if (this.#hasTicket(me) && !this.#isFirst(me, this.#current)) this.#fail(`${me.name} is let in behind another`)
    const since = this.#history.slice(me.own.czxid, me.session.view + 1)
    if (since.some(directory => hasTicketIn(me, directory) && this.#isFirst(me, directory))) return
    // An outsider may delete a ticket between its drawing and the look behind it, as he may delete a holder's.
    const seen = this.#history[me.session.view]
    if (wasDrawn && seen !== undefined && seen.czxid < me.own.czxid && this.#isFirst(me, seen)) return
    this.#fail(`${me.name} is let in, and its ticket was never the first`)
  }

  #isFirst({ own }: Contender, directory: Directory | undefined): boolean {
    return [...(directory?.nodes.keys() ?? [])].every(number => number >= own.number)
  }

  #cancel(me: Contender): void {
    this.#deleteTicket(me)
    this.#setState(me, { at: 'done' })
  }

  /** Looks whether the node is one's own, and deletes it. An outsider who comes between the two is not believed in here. */
  #deleteTicket(me: Contender): void {
    if (this.#hasTicket(me)) this.#delete(`${me.name} leaves`, me.own.number)
  }

  #release(me: Contender): void {
    const node = this.#current?.nodes.get(me.own.number)
    if (node === undefined || !this.#hasTicket(me)) return this.#setState(me, { at: 'done' })
    this.#delete(`${me.name} releases`, me.own.number, this.#rules.releasesAtomically)
    this.#releasedAt.set(node, this.#lastZxid)
    this.#setState(me, { at: this.#rules.releasesAtomically ? 'done' : 'telling' })
  }

  #hasTicket(me: Contender): boolean {
    return hasTicketIn(me, this.#current)
  }

  // What befalls them

  #expire(session: Session): void {
    session.isAlive = false
    this.#write(`${session.name} expires`, now => {
      return now && { ...now, nodes: new Map([...now.nodes].filter(([, { owner }]) => owner.session !== session)) }
    })
  }

  #outsider(what: 'deletes' | 'touches', number: number): void {
    const node = this.#current?.nodes.get(number)
    if (node === undefined) return
    if (what === 'deletes') return this.#delete('an outsider deletes', number)
    this.#write(`an outsider touches ${number}`, (now, mzxid) => {
      return now && { ...now, nodes: new Map(now.nodes).set(number, { ...node, mzxid }) }
    })
    const given = this.#releasedAt.get(node)
    const touched = this.#current?.nodes.get(number)
    if (given !== undefined && touched !== undefined) this.#releasedAt.set(touched, given)
  }

  #deleteDirectory(): void {
    for (const number of [...(this.#current?.nodes.keys() ?? [])].reverse()) this.#delete('an outsider deletes', number)
    this.#write('an outsider deletes the directory', () => undefined)
  }

  /** Its server does one transaction more, and tells of what was watched. */
  #catchUp(session: Session): void {
    const [before, after] = [this.#history[session.view], this.#history[++session.view]]
    for (const each of this.#waitersOf(session))
      if (before?.nodes.get(each.state.ticket) !== after?.nodes.get(each.state.ticket)) this.#wake(each)
  }

  /** To another server, which has come at least as far as the answers of the last one. What was asked is asked again. */
  #reconnect(session: Session, lag: number): void {
    session.view = Math.max(session.lastReplied, this.#lastZxid - lag)
    this.#log.push(`${session.name} reconnects at ${session.view}`)
    for (const each of this.#contenders.filter(other => other.session === session)) {
      const { state } = each
      if (state.at === 'woken' || state.at === 'looked')
        this.#setState(each, { at: 'next', next: { do: 'watch', ticket: state.ticket } })
    }
    // setWatches: the server compares with what the session has seen.
    for (const each of this.#waitersOf(session)) {
      const node = this.#history[session.view]?.nodes.get(each.state.ticket)
      if (node === undefined || node.mzxid > session.lastReplied) this.#wake(each)
    }
  }

  #waitersOf(session: Session) {
    return this.#contenders.filter(
      (each): each is Contender & { state: { at: 'waiting'; ticket: number; node: Node } } =>
        each.session === session && each.state.at === 'waiting',
    )
  }

  #wake(me: Contender & { state: { at: 'waiting'; ticket: number; node: Node } }): void {
    this.#setState(me, { ...me.state, at: 'woken' })
  }

  // The tree

  #read(session: Session): Directory | undefined {
    session.lastReplied = session.view
    return this.#history[session.view]
  }

  #write(what: string, change: (now: Directory | undefined, zxid: number) => Directory | undefined): void {
    const zxid = this.#history.length
    this.#history.push(change(this.#current, zxid))
    this.#log.push(`${zxid}: ${what}`)
  }

  #delete(what: string, number: number, tells = false): void {
    this.#write(`${what} ${number}`, now => {
      if (now === undefined) return now
      const nodes = new Map(now.nodes)
      nodes.delete(number)
      return { ...now, nodes, ...(tells && { lastReleased: number }) }
    })
  }

  #setState(me: Contender, state: State): void {
    this.#log.push(`${me.name} ${state.at}${state.at === 'next' ? ` ${JSON.stringify(state.next)}` : ''}`)
    me.state = state
  }

  #fail(what: string): never {
    throw new Error(`${what}\n${this.#log.join('\n')}`)
  }
}

/** Is the contender's own ticket there, and no namesake? */
const hasTicketIn = ({ own }: Contender, directory: Directory | undefined): boolean =>
  directory?.nodes.get(own.number)?.czxid === own.czxid
