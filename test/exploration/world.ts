// A world in which nothing happens unless it is chosen: some processes with the real client, the real embedded server, and what is
// on its way between them. A state of the world is a value. So the explorer goes on from each state as often as it has steps, and
// the real code runs only for what it has not been asked before.
import type { Client } from '../../src/index.ts'
import type { Server, Snapshot, TransactionRecord } from '../../src/server/index.ts'
import type { Event } from '../linearizability/history.ts'
import type { RecordedClient } from '../linearizability/recorder.ts'
import { Automaton, type Edge, type Reached } from './automaton.ts'
import { knownAfter, Packets, type Frame, type Known, type Packet } from './packet.ts'
import { keyOf, Process, textOf, type Effect, type Input, type Told, type View } from './process.ts'
import { Servers, TICK, type Sent, type ServerInput, type ServerView } from './servers.ts'

export const SESSION_TIMEOUT = 4000
/** When a world begins, ms. */
export const START = 1000
/** The time within which a caller must have what it waits for, if nothing else happens, ms. */
export const PATIENCE = 5 * SESSION_TIMEOUT
/** The longest time for which something is held back, ms: sessions have expired by then. */
export const LONGEST_HOLD = SESSION_TIMEOUT + TICK

export const faultKinds = ['cut', 'expire', 'abort', 'delete', 'answers', 'requests', 'process', 'lag'] as const
export type FaultKind = (typeof faultKinds)[number]

/**
 * What can be held back. `answers`: what the server sends to this process. `requests`: what it sends to the server.
 * `process`: everything that happens in it, as if it were stopped.
 */
export type HeldBack = 'answers' | 'requests' | 'process'

/** What the judge of a world sees: what the processes recorded, in their order, and the server's transactions and state. */
export interface Outcome {
  readonly events: readonly Event[]
  readonly told: readonly Told[]
  readonly log: readonly TransactionRecord[]
  readonly snapshot: Snapshot
}

export interface Scenario {
  readonly name: string
  /** The names of the processes. */
  readonly processes: readonly string[]
  /** The number of servers. Default 1. Of three, the first leads. The first process connects to the last, which can lag. */
  readonly servers?: 1 | 3
  /** True if the processes differ in their names only. Of those that have done nothing yet, only the first takes a step. */
  readonly areAlike?: boolean
  /** Faults that make no sense here. */
  readonly without?: readonly FaultKind[]
  /** True if an operator may delete the nodes of contenders: the fault 'delete'. */
  readonly hasOperator?: boolean
  /** Prepares the server by means of an operator's client, before the processes start. */
  readonly prepare?: (client: Client, server: Server) => Promise<unknown>
  /** The program of each caller. */
  readonly run: (process: Process, client: RecordedClient) => Promise<unknown>
  /** Returns what must not be so at the end. */
  readonly judge: (end: Outcome) => readonly string[]
}

/** The same with three servers, of which the last can lag. */
export const onThreeServers = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}, on three servers`,
  servers: 3,
})

/** A connection, and what is on its way on it. */
export interface Link {
  readonly name: string
  readonly up: readonly Frame[]
  readonly down: readonly (Packet | 'closed')[]
  /** True if the client has no connection any more. The server may still receive what was sent. */
  readonly isLeft: boolean
  /** True if the server has closed the connection, or knows that the client has. */
  readonly isEnded: boolean
}

export interface ProcessState {
  readonly local: Reached<Input, View>
  readonly links: readonly Link[]
  readonly heldBack: HeldBack | undefined
  readonly heldSince: number
  readonly known: Known
  /** The locks whose loss was recorded for it, because it could not do so itself. */
  readonly lost: readonly string[]
  /** Stands for all of this, once somebody has asked. */
  number?: number | undefined
}

/** What was recorded until now, in its order. */
interface Trace {
  readonly id: number
  readonly size: number
  readonly before: Trace | undefined
  readonly event: Event | Told | undefined
}

/** The world at a moment. A step makes another state, and leaves this one as it is. */
export interface State {
  readonly time: number
  /** When a fault happened last, or something else that a caller may wait for. */
  readonly lastChange: number
  readonly faultsLeft: number
  readonly servers: Reached<ServerInput, ServerView>
  readonly processes: readonly ProcessState[]
  readonly trace: Trace
  /** Since when the last server lags. */
  readonly lagsSince: number | undefined
  /** True if nothing more happens. */
  readonly isFinal: boolean
}

export class World {
  readonly scenario: Scenario
  readonly #packets = new Packets()
  readonly #servers: Automaton<ServerInput, ServerView>
  readonly #processes: readonly Automaton<Input, View>[]
  readonly #traces = new Map<string, Trace>()
  readonly #verdicts = new Map<string, readonly string[]>()
  /** The processes when their callers have begun. */
  #begun: readonly ProcessState[] = []

  private constructor(scenario: Scenario, addresses: readonly string[]) {
    this.scenario = scenario
    const { servers = 1, processes, prepare, run } = scenario
    this.#servers = new Automaton(
      () => Servers.start(servers, this.#packets, prepare),
      keyOfServer,
      ({ state }) => state,
    )
    const program = async (process: Process) => {
      const client = await process.connect(SESSION_TIMEOUT)
      await process.step('begins')
      await run(process, client)
    }
    this.#processes = processes.map((name, nth) => {
      const address = addresses.at((nth - 1) % addresses.length) as string
      return new Automaton(() => Promise.resolve(new Process(name, nth, address, program, this.#packets)), keyOf)
    })
  }

  static async of(scenario: Scenario): Promise<World> {
    const { addresses } = await Servers.start(scenario.servers ?? 1, new Packets())
    return new World(scenario, addresses)
  }

  /** The state in which the clients are connected, and the callers have begun. */
  async begin(faults: number): Promise<State> {
    const trace = { id: 0, size: 0, before: undefined, event: undefined }
    const servers = (await this.#servers.begin({ at: START, is: 'timers' })).state
    let state: State = {
      ...{ time: START, lastChange: 0, faultsLeft: faults, servers, trace },
      ...{ processes: [], lagsSince: undefined, isFinal: false },
    }
    const [first, ...rest] = this.#processes
    for (const automaton of [first, ...rest]) {
      const edge = await (automaton as Automaton<Input, View>).begin({ at: START, is: 'started' })
      const none: ProcessState = {
        ...{ local: edge.state, links: [], heldBack: undefined, heldSince: 0 },
        ...{ known: { zxid: 0n, atDeletion: 0n }, lost: [] },
      }
      state = { ...state, processes: [...state.processes, none] }
      state = await this.drain(await this.#follow(state, state.processes.length - 1, edge))
    }
    for (const nth of this.#processes.keys()) state = await this.give(state, nth, { is: 'step' })
    this.#begun = state.processes
    return state
  }

  /** True if the process has done nothing since its caller began, and nothing has happened to it. */
  isAsBegun(state: State, nth: number): boolean {
    const [now, begun] = [state.processes[nth] as ProcessState, this.#begun[nth] as ProcessState]
    return now === begun || this.#numberOf(now) === this.#numberOf(begun)
  }

  /** Gives a process an input. */
  async give(state: State, nth: number, input: Omitting<Input, 'at'>): Promise<State> {
    const process = state.processes[nth] as ProcessState
    const edge = (this.#processes[nth] as Automaton<Input, View>).after(process.local, { at: state.time, ...input })
    return this.#follow(state, nth, edge instanceof Promise ? await edge : edge)
  }

  /** Gives the servers an input. */
  async giveServers(state: State, input: Omitting<ServerInput, 'at'>): Promise<State> {
    const edge = this.#servers.after(state.servers, { at: state.time, ...input })
    const { view, state: servers } = edge instanceof Promise ? await edge : edge
    let next: State = { ...state, servers }
    for (const sent of view.sent) next = arrived(next, sent)
    return next
  }

  /** Delivers the next packet of a connection. */
  receive(state: State, nth: number, link: number): Promise<State> {
    const process = state.processes[nth] as ProcessState
    const [packet, ...down] = (process.links[link] as Link).down
    if (packet === undefined) throw new Error('nothing is on its way')
    const next = withLink(state, nth, link, { down })
    if (packet === 'closed') return this.give(next, nth, { is: 'closed', link })
    const known = knownAfter(process.known, packet)
    return this.give(withProcess(next, nth, { known }), nth, { is: 'received', link, packet })
  }

  /** The server executes the next request of a connection. */
  execute(state: State, nth: number, link: number): Promise<State> {
    const { name, up } = (state.processes[nth] as ProcessState).links[link] as Link
    const [frame, ...rest] = up
    if (frame === undefined) throw new Error('nothing is on its way')
    return this.giveServers(withLink(state, nth, link, { up: rest }), { is: 'received', link: name, frame })
  }

  /** The server learns that the client has left. What has not arrived is lost. */
  end(state: State, nth: number, link: number): Promise<State> {
    const { name } = (state.processes[nth] as ProcessState).links[link] as Link
    return this.giveServers(withLink(state, nth, link, { up: [], isEnded: true }), { is: 'ended', link: name })
  }

  /** What was held back goes on. What the server sent arrives as one chunk. */
  resume(state: State, nth: number): State {
    const links = (state.processes[nth] as ProcessState).links.map(link => {
      const packets = link.down.filter(packet => packet !== 'closed')
      const isClosed = packets.length < link.down.length
      if (link.isLeft || packets.length < 2) return link
      return { ...link, down: [this.#packets.joined(packets), ...(isClosed ? ['closed' as const] : [])] }
    })
    return withProcess(state, nth, { heldBack: undefined, heldSince: 0, links })
  }

  /** Time passes until the next timer is due. */
  pass(state: State): State {
    const at = nextAt(state)
    return at < Infinity ? { ...state, time: Math.max(state.time, at) } : state
  }

  record(state: State, event: Omitting<Event, 'at'> | Told, text = textOf(event)): State {
    const { trace, time } = state
    const key = `${trace.id} ${time} ${text}`
    let next = this.#traces.get(key)
    if (next === undefined) {
      const size = trace.size + 1
      // Each event has a time of its own.
      const at = time + size * 1e-6
      next = { id: this.#traces.size + 1, size, before: trace, event: { ...event, at } as Event | Told }
      this.#traces.set(key, next)
    }
    return { ...state, trace: next }
  }

  /** Lets everything happen that needs neither time nor a step of a caller, in a fixed order. */
  async drain(state: State): Promise<State> {
    for (const nth of state.processes.keys())
      if (state.processes[nth]?.heldBack !== undefined) state = this.resume(state, nth)
    if (state.lagsSince !== undefined) state = await this.catchUp(state)
    for (;;) {
      const next = await this.#drainOne(state)
      if (next === undefined) return state
      state = next
    }
  }

  async #drainOne(state: State): Promise<State | undefined> {
    for (const [nth, { links, local }] of state.processes.entries()) {
      const down = links.findIndex(link => link.down.length > 0)
      if (down !== -1) return this.receive(state, nth, down)
      if (local.view.timerAt <= state.time) return this.give(state, nth, { is: 'timers' })
      const up = links.findIndex(link => link.up.length > 0)
      if (up !== -1) return this.execute(state, nth, up)
      const stale = links.findIndex(isStale)
      if (stale !== -1) return this.end(state, nth, stale)
    }
    return state.servers.view.timerAt <= state.time ? this.giveServers(state, { is: 'timers' }) : undefined
  }

  async catchUp(state: State): Promise<State> {
    return { ...(await this.giveServers(state, { is: 'caughtUp' })), lagsSince: undefined }
  }

  /** Ends the schedule, and returns what was wrong. */
  async finish(state: State): Promise<readonly string[]> {
    state = await this.drain(state)
    // A caller that gave up has ended, and its client still removes its node once it is connected again.
    for (let i = 0; i < 20 && state.processes.some(({ local }) => local.view.isSuspended); i++)
      state = await this.drain(this.pass(state))
    const problems = [...this.#judge(state)]
    for (const { kind, path } of state.servers.view.snapshot.watches) problems.push(`a watch is left: ${kind} ${path}`)
    for (const nth of state.processes.keys()) state = await this.give(state, nth, { is: 'close' })
    state = await this.drain(state)
    for (let i = 0; i < 20 && !state.processes.every(isClosed); i++) state = await this.drain(this.pass(state))
    for (const [nth, { local }] of state.processes.entries()) {
      const name = this.scenario.processes[nth]
      if (!local.view.isClosed) problems.push(`a client does not close: that of ${name}`)
      if (local.view.timers > 0) problems.push(`a timer is left: ${name} has ${local.view.timers}`)
    }
    return problems
  }

  /**
   * Says how the schedule has ended: for each process what it recorded, in its order, and what the servers did. So two ends
   * are equal if they differ only in the order of what happened in different processes.
   */
  endOf({ trace, servers: { view }, processes }: State): string {
    const sessions = processes.map(({ local }) => local.view.session)
    const lines = this.scenario.processes.map(name => [name])
    for (const event of eventsOf(trace)) {
      const name = 'process' in event ? event.process : 'id' in event ? event.id.replace(/\d+$/, '') : undefined
      const nth =
        name === undefined
          ? sessions.indexOf('session' in event ? event.session : 0n)
          : this.scenario.processes.indexOf(name)
      if (event.is !== 'killed') lines[nth]?.push(textOf({ ...event, at: Math.floor(event.at) }))
    }
    const { log, snapshot } = view
    return [...lines.flat(), ...log.map(textOf), textOf(snapshot.sessions), textOf(snapshot.watches)].join('\n')
  }

  #judge({ trace, servers: { view } }: State): readonly string[] {
    const key = `${trace.id} ${view.logged}`
    let verdict = this.#verdicts.get(key)
    if (verdict === undefined) {
      const events = eventsOf(trace)
      const told = events.filter(event => event.is === 'told')
      const end = { events: events.filter(event => event.is !== 'told'), told, log: view.log, snapshot: view.snapshot }
      const problems = told.filter(({ what }) => what === 'problem').map(({ value }) => String(value))
      verdict = [...problems, ...this.scenario.judge(end)]
      this.#verdicts.set(key, verdict)
    }
    return verdict
  }

  /** Says in which state the world is. */
  keyOf({ time, lastChange, faultsLeft, servers, trace, lagsSince, isFinal, processes }: State): string {
    let key = `${time} ${lastChange} ${faultsLeft} ${servers.id} ${trace.id} ${lagsSince ?? ''}${isFinal ? '.' : ''}`
    for (const process of processes) key += ` ${this.#numberOf(process)}`
    return key
  }

  #numberOf(process: ProcessState): number {
    return (process.number ??= this.#packets.number(textOfProcess(process)))
  }

  /** Does what a process does after an input. */
  async #follow(state: State, nth: number, { view, state: local }: Edge<Input, View>): Promise<State> {
    let next = withProcess(state, nth, { local })
    for (const effect of view.effects) {
      const followed = this.#do(next, nth, effect)
      next = followed instanceof Promise ? await followed : followed
    }
    return next
  }

  #do(state: State, nth: number, effect: Effect): State | Promise<State> {
    const { links, known, lost, heldBack } = state.processes[nth] as ProcessState
    switch (effect.is) {
      case 'dials': {
        const name = `${nth}.${links.length}`
        const link = { name, up: [], down: [], isLeft: false, isEnded: false }
        const next = withProcess(state, nth, { links: [...links, link] })
        return this.giveServers(next, { is: 'accepted', link: name, server: effect.server })
      }
      case 'sends': {
        const { isEnded, up } = links[effect.link] as Link
        return isEnded
          ? state
          : withLink(state, nth, effect.link, { up: [...up, this.#packets.having(effect.frame, known.zxid)] })
      }
      case 'leaves': {
        const left = withLink(state, nth, effect.link, { isLeft: true, down: [] })
        // Otherwise a client that tries to connect again and again would have many connections that can be late.
        return heldBack === 'requests' ? this.end(left, nth, effect.link) : left
      }
      case 'records': {
        const { event, text } = effect
        if (event.is === 'lost' && lost.includes(event.id)) return state
        if (event.is === 'released')
          return this.record(state, { ...event, lastZxid: known.zxid }, `${text} ${known.zxid}`)
        if (event.is !== 'granted') return this.record(state, event, text)
        const { lastDeletion } = event
        return this.record(
          this.#withLosses(state),
          {
            ...event,
            lastZxid: known.zxid,
            ...(lastDeletion && { lastDeletion: { ...lastDeletion, after: known.atDeletion } }),
          },
          `${text} ${known.zxid} ${known.atDeletion}`,
        )
      }
    }
  }

  /**
   * Records the loss of every hold that validFor() tells about now, also of processes that are stopped: the guard of a
   * holder decides whether it may believe that it has the lock, and not when the holder is told.
   */
  #withLosses(state: State): State {
    for (const [nth, { local, lost }] of state.processes.entries())
      for (const { id, until } of local.view.beliefs)
        if (until <= state.time && !lost.includes(id))
          state = withProcess(this.record(state, { is: 'lost', id }), nth, {
            lost: [...(state.processes[nth] as ProcessState).lost, id],
          })
    return state
  }
}

/** Omit that distributes over a union. */
type Omitting<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

export const isStale = ({ isLeft, isEnded }: Link): boolean => isLeft && !isEnded

export const nextAt = ({ servers, processes }: State): number =>
  Math.min(
    servers.view.timerAt,
    ...processes.filter(({ heldBack }) => heldBack !== 'process').map(({ local }) => local.view.timerAt),
  )

function eventsOf(trace: Trace): (Event | Told)[] {
  const events: (Event | Told)[] = []
  for (let each: Trace | undefined = trace; each?.event !== undefined; each = each.before) events.push(each.event)
  return events.reverse()
}

function textOfProcess({ local, heldBack, heldSince, known, lost, links }: ProcessState): string {
  // A caller that has ended sends no zxid any more.
  let text = `${local.id} ${local.view.isDone ? '' : `${known.zxid} ${known.atDeletion}`} ${lost.join()}`
  if (heldBack !== undefined) text += ` ${heldBack} ${heldSince}`
  for (const [i, { up, down, isLeft, isEnded }] of links.entries()) {
    if (isLeft && isEnded) continue
    text += `;${i}${isLeft ? 'l' : ''}${isEnded ? 'e' : ''}`
    for (const { id } of up) text += `^${id}`
    for (const packet of down) text += packet === 'closed' ? 'c' : `v${packet.id}`
  }
  return text
}

const isClosed = ({ local }: ProcessState) => local.view.isClosed

export const withProcess = (state: State, nth: number, change: Partial<ProcessState>): State => ({
  ...state,
  processes: state.processes.with(nth, { ...(state.processes[nth] as ProcessState), ...change, number: undefined }),
})

function withLink(state: State, nth: number, link: number, change: Partial<Link>): State {
  const { links } = state.processes[nth] as ProcessState
  return withProcess(state, nth, { links: links.with(link, { ...(links[link] as Link), ...change }) })
}

function arrived(state: State, { link: name, packet }: Sent): State {
  const [nth, link] = name.split('.').map(Number) as [number, number]
  const { isLeft, down } = (state.processes[nth] as ProcessState).links[link] as Link
  const ended = packet === 'closed' ? { up: [], isEnded: true } : {}
  return withLink(state, nth, link, { ...ended, ...(!isLeft && { down: [...down, packet] }) })
}

const keyOfServer = (input: ServerInput): string => {
  const { at, is } = input
  switch (is) {
    case 'accepted':
      return `${at} ${is} ${input.link} ${input.server}`
    case 'received':
      return `${at} ${is} ${input.link} ${input.frame.id}`
    case 'ended':
      return `${at} ${is} ${input.link}`
    case 'expired':
      return `${at} ${is} ${input.session}`
    case 'deleted':
      return `${at} ${is} ${input.path}`
    default:
      return `${at} ${is}`
  }
}
