// A worker thread with a part of the sessions. It executes the commands of the main thread, and reports completed
// phases.
import { setMaxListeners } from 'node:events'
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { ProgressCounters, type ProgressMemory } from './progress-counters.ts'
import type { Member, Scenario, Participant } from './scenario.ts'
import { scenarios } from '../scenarios/index.ts'
import { BenchSession, openSessions } from './sessions.ts'
import { FrameCounter, type Traffic } from '../measure/frame-counter.ts'

export interface WorkerData {
  servers: string
  fencePath: string
  progress: ProgressMemory
  /** A value of process.hrtime. All threads measure times from it. */
  epoch: bigint
}

/** A member has reached the goal of the phase. */
export interface Mark {
  member: number
  /** The time since the epoch, ms. */
  at: number
}

/** A message that is not a reply to a command. */
export type Notice = { is: 'reached' } | { is: 'opened' } | { is: 'failed'; error: Error }

export interface Assignment {
  scenario: string
  directory: string
  size: number
  /** The indexes of the members in this thread. The trigger session's index is `size`. */
  members: readonly number[]
  /** The number of sessions that the members of this thread share. */
  sessions: number
}

const { servers, fencePath, progress: memory, epoch } = workerData as WorkerData
const port = parentPort
if (port === null) throw new Error('worker.ts must be started as a worker thread')

const notify = (notice: Notice) => port.postMessage(notice)
const now = () => Number(process.hrtime.bigint() - epoch) / 1e6
const fail = (error: unknown) =>
  notify({ is: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
const progress = new ProgressCounters(memory, () => notify({ is: 'reached' }))
const counter = new FrameCounter(fencePath, progress)
const runOver = new AbortController()
let shared: BenchSession[] = []
let isClosing = false
let marks: Mark[] = []
let selected: Group | undefined
const groups = new Map<string, Group>()
let utilization: EventLoopUtilization = performance.eventLoopUtilization()

/** The members of a scenario in this thread. */
class Group {
  readonly #ended = new AbortController()
  readonly #members = new Map<number, { member: Member; session: BenchSession }>()
  readonly #size: number
  readonly #sessions: readonly BenchSession[]
  readonly #ownsSessions: boolean

  constructor(scenario: Scenario, { directory, size, members }: Assignment, sessions: readonly BenchSession[]) {
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
    return {
      ...{ client: session.client, directory, index, signal, fail },
      mark: () => {
        marks.push({ member: index, at: now() })
        progress.marked()
      },
      cut: () => session.link.cut(),
      rearmed: () => session.rearmed(),
      isolate: () => session.link.down(),
      replaceSession: () => session.replaceSession(runOver.signal),
    }
  }

  /**
   * @param atOnce number of members that act at once. The next ones act when the server has replied to these.
   * @returns the time at which the first one acted
   */
  async act(action: string, who: number | 'all', atOnce: number): Promise<number> {
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

  /** @param which 'trigger' if the other sessions are disconnected */
  async fence(which: 'all' | 'trigger'): Promise<void> {
    const sessions = this.#ownsSessions ? this.#sessions : shared
    const fenced =
      which === 'all' ? sessions : [...this.#members].flatMap(([i, { session }]) => (i === this.#size ? [session] : []))
    await Promise.all(fenced.map(({ client }) => client.sync(fencePath)))
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

const open = (count: number, timeout: number | undefined) =>
  openSessions(
    count,
    () => new BenchSession(servers, counter, timeout),
    runOver.signal,
    () => notify({ is: 'opened' }),
  )

/** The commands of the main thread. */
const commands = {
  /** Opens shared sessions until there are `count`. */
  open: async (count: number): Promise<void> => {
    const more = await open(Math.max(0, count - shared.length), undefined)
    for (const session of more)
      session.reportLoss(error => {
        if (!isClosing) fail(error)
      })
    shared = [...shared, ...more]
  },

  assemble: async (assignment: Assignment): Promise<void> => {
    const scenario = scenarios.find(({ name }) => name === assignment.scenario)
    if (scenario === undefined) throw new Error(`no scenario is named ${assignment.scenario}`)
    const count = assignment.sessions
    const sessions = scenario.ownSessions === undefined ? shared : await open(count, scenario.ownSessions.timeout)
    groups.set(assignment.directory, new Group(scenario, assignment, sessions.slice(0, count)))
  },

  /** Selects the group that the following commands apply to. */
  select: (directory: string): void => {
    selected = groups.get(directory)
  },

  act: async (action: string, who: number | 'all', atOnce: number): Promise<number | undefined> =>
    selected?.act(action, who, atOnce),

  fence: async (which: 'all' | 'trigger'): Promise<void> => selected?.fence(which),

  traffic: (): Traffic => counter.traffic,

  /** Returns and clears the marks since the last call. */
  marks: (): Mark[] => {
    const taken = marks
    marks = []
    return taken
  },

  /** Returns the utilization of the event loop since the last call, from 0 to 1. */
  busy: (): number => {
    const before = utilization
    utilization = performance.eventLoopUtilization()
    return performance.eventLoopUtilization(utilization, before).utilization
  },

  tearDown: async (directory: string): Promise<void> => {
    const group = groups.get(directory)
    await group?.tearDown()
    await group?.close()
    groups.delete(directory)
  },

  close: async (): Promise<void> => {
    isClosing = true
    runOver.abort(new Error('the run is over'))
    await Promise.allSettled([...groups.values()].map(each => each.close()))
    await Promise.allSettled(shared.map(session => session.close()))
  },
}

export type Commands = typeof commands
export interface CommandMessage {
  id: number
  command: keyof Commands
  args: unknown[]
}
export type Reply = { id: number; value: unknown } | { id: number; error: Error }

port.on('message', ({ id, command, args }: CommandMessage) => {
  const perform = commands[command] as (...args: unknown[]) => unknown
  void Promise.resolve()
    .then(() => perform(...args))
    .then(
      value => port.postMessage({ id, value } satisfies Reply),
      (error: unknown) => port.postMessage({ id, error: error as Error } satisfies Reply),
    )
})
