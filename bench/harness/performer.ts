// A part of the sessions, and the commands that act on them. A worker thread or a process executes them, or this
// process itself.
import { setMaxListeners } from 'node:events'
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import type { ObservedFrame } from '../../src/index.ts'
import type { Member, Scenario, Participant } from './scenario.ts'
import { scenarios } from '../scenarios/index.ts'
import { BenchSession, openSessions } from './sessions.ts'
import { FrameCounter, type FrameCounterOwner, type Traffic } from '../measure/frame-counter.ts'

/** A member has reached the goal of the phase. */
export interface Mark {
  member: number
  /** The time on the clock of the performer, ms. */
  at: number
}

export interface Assignment {
  scenario: string
  directory: string
  size: number
  /** The indexes of the members of this performer. The trigger session's index is `size`. */
  members: readonly number[]
  /** The number of sessions that these members share. */
  sessions: number
}

/** The clock of all threads and processes of this machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** What a performer tells its owner, and asks of it. */
export interface PerformerOwner extends FrameCounterOwner {
  /** A connect string. */
  servers: string
  /** A `sync` of this path is a fence. */
  fencePath: string
  /** Returns the time in ms, on the clock of all marks of this machine. */
  now(): number
  /** A member has reached the goal of the phase. */
  marked(): void
  opened(): void
  failed(error: Error): void
  /** Called with each frame of the work of a shared session. The sessions are numbered in order if they are opened one by one. */
  readonly observed?: (session: number, frame: ObservedFrame) => void
}

interface GroupOwner {
  readonly fencePath: string
  /** Aborts at the end of the run. */
  readonly runOver: AbortSignal
  readonly now: () => number
  readonly fail: (error: unknown) => void
  readonly mark: (member: number) => void
}

/** The members of a scenario on the sessions of one performer. */
class Group {
  readonly #ended = new AbortController()
  readonly #members = new Map<number, { member: Member; session: BenchSession }>()
  readonly #size: number
  readonly #sessions: readonly BenchSession[]
  readonly #ownsSessions: boolean
  readonly #owner: GroupOwner

  constructor(
    scenario: Scenario,
    { directory, size, members }: Assignment,
    sessions: readonly BenchSession[],
    owner: GroupOwner,
  ) {
    this.#owner = owner
    setMaxListeners(0, this.#ended.signal)
    this.#sessions = sessions
    this.#ownsSessions = scenario.ownSessions !== undefined
    this.#size = size
    for (const [i, index] of members.entries()) {
      const session = sessions[i % sessions.length]
      if (session === undefined) throw new Error(`no session for member ${index} of ${directory}`)
      const participant = this.#participant(session, directory, index)
      const make = index === size ? scenario.trigger : scenario.member
      if (make !== undefined) this.#members.set(index, { member: make(participant), session })
    }
  }

  #participant(session: BenchSession, directory: string, index: number): Participant {
    const { signal } = this.#ended
    const { fail, mark, runOver } = this.#owner
    return {
      ...{ client: session.client, directory, index, signal, fail },
      mark: () => mark(index),
      cut: () => session.link.cut(),
      rearmed: () => session.rearmed(),
      isolate: () => session.link.down(),
      replaceSession: () => session.replaceSession(runOver),
    }
  }

  /**
   * @param atOnce number of members that act at once. The next ones act when the server has replied to these.
   * @returns the time at which the first one acted
   */
  async act(action: string, who: number | 'all', atOnce: number): Promise<number> {
    const { now, fail, fencePath } = this.#owner
    const begun = now()
    const actors = [...this.#members].filter(([index]) => who === 'all' || who === index).map(([, actor]) => actor)
    for (let i = 0; i < actors.length; i += atOnce) {
      const batch = actors.slice(i, i + atOnce)
      for (const { member } of batch)
        Promise.resolve(member[action]?.()).catch((error: unknown) => {
          if (!this.#ended.signal.aborted) fail(error)
        })
      if (i + atOnce < actors.length) await Promise.all(batch.map(({ session }) => session.client.sync(fencePath)))
    }
    return begun
  }

  /**
   * @param which 'trigger' if the other sessions are disconnected
   * @param shared the sessions of all scenarios that have none of their own
   */
  async fence(which: 'all' | 'trigger', shared: readonly BenchSession[]): Promise<void> {
    const sessions = this.#ownsSessions ? this.#sessions : shared
    const fenced =
      which === 'all' ? sessions : [...this.#members].flatMap(([i, { session }]) => (i === this.#size ? [session] : []))
    await Promise.all(fenced.map(({ client }) => client.sync(this.#owner.fencePath)))
  }

  async tearDown(): Promise<void> {
    this.#ended.abort()
    await Promise.all(this.#sessions.map(({ client }) => client.settled()))
  }

  async close(): Promise<void> {
    this.#ended.abort()
    if (this.#ownsSessions) await Promise.all(this.#sessions.map(session => session.close()))
  }
}

export class Performer {
  readonly #owner: PerformerOwner
  readonly #counter: FrameCounter
  readonly #runOver = new AbortController()
  readonly #groups = new Map<string, Group>()
  readonly #groupOwner: GroupOwner
  #shared: BenchSession[] = []
  #isClosing = false
  #marks: Mark[] = []
  #selected: Group | undefined
  #utilization: EventLoopUtilization = performance.eventLoopUtilization()

  constructor(owner: PerformerOwner) {
    this.#owner = owner
    this.#counter = new FrameCounter(owner.fencePath, owner)
    this.#groupOwner = {
      fencePath: owner.fencePath,
      runOver: this.#runOver.signal,
      now: () => owner.now(),
      fail: error => owner.failed(error instanceof Error ? error : new Error(String(error))),
      mark: member => {
        this.#marks.push({ member, at: owner.now() })
        owner.marked()
      },
    }
  }

  /** Opens shared sessions until there are `count`. */
  async open(count: number): Promise<void> {
    const more = await this.#open(Math.max(0, count - this.#shared.length), undefined)
    for (const session of more)
      session.reportLoss(error => {
        if (!this.#isClosing) this.#owner.failed(error)
      })
    this.#shared = [...this.#shared, ...more]
  }

  async assemble(assignment: Assignment): Promise<void> {
    const scenario = scenarios.find(({ name }) => name === assignment.scenario)
    if (scenario === undefined) throw new Error(`no scenario is named ${assignment.scenario}`)
    const count = assignment.sessions
    const { ownSessions } = scenario
    const sessions = ownSessions === undefined ? this.#shared : await this.#open(count, ownSessions.timeout)
    const group = new Group(scenario, assignment, sessions.slice(0, count), this.#groupOwner)
    this.#groups.set(assignment.directory, group)
  }

  /** Selects the group that the following commands apply to. */
  select(directory: string): void {
    this.#selected = this.#groups.get(directory)
  }

  async act(action: string, who: number | 'all', atOnce: number): Promise<number | undefined> {
    return this.#selected?.act(action, who, atOnce)
  }

  async fence(which: 'all' | 'trigger'): Promise<void> {
    await this.#selected?.fence(which, this.#shared)
  }

  traffic(): Traffic {
    return structuredClone(this.#counter.traffic)
  }

  /** Returns and clears the marks since the last call. */
  marks(): Mark[] {
    const taken = this.#marks
    this.#marks = []
    return taken
  }

  /** Returns the utilization of the event loop since the last call, from 0 to 1. */
  busy(): number {
    const before = this.#utilization
    this.#utilization = performance.eventLoopUtilization()
    return performance.eventLoopUtilization(this.#utilization, before).utilization
  }

  async tearDown(directory: string): Promise<void> {
    const group = this.#groups.get(directory)
    await group?.tearDown()
    await group?.close()
    this.#groups.delete(directory)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#runOver.abort(new Error('the run is over'))
    await Promise.allSettled([...this.#groups.values()].map(each => each.close()))
    await Promise.allSettled(this.#shared.map(session => session.close()))
  }

  /** Returns what counts the frames of a session, and shows them to the owner if it wants to see them. */
  #counterOf(session: number): Pick<FrameCounter, 'observer'> {
    const { observed } = this.#owner
    if (observed === undefined) return this.#counter
    return {
      observer: onRearmed => {
        const count = this.#counter.observer(onRearmed)
        return frame => {
          const isWork = count(frame)
          if (isWork) observed(session, frame)
          return isWork
        }
      },
    }
  }

  #open(count: number, timeout: number | undefined): Promise<BenchSession[]> {
    const { servers } = this.#owner
    const make = () => new BenchSession(servers, this.#counterOf(this.#shared.length), timeout)
    return openSessions(count, make, this.#runOver.signal, () => this.#owner.opened())
  }
}
