// One of the threads that sessions are spread over. It does what the main thread asks, and says when goals are reached.
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
  /** Of process.hrtime, for times that all threads share. */
  epoch: bigint
}

/** What has happened to which member, and when, in milliseconds since the epoch. */
export interface Mark {
  member: number
  at: number
}

/** Said without being asked. */
export type Notice = { is: 'reached' } | { is: 'opened' } | { is: 'failed'; error: Error }

export interface Assignment {
  scenario: string
  directory: string
  size: number
  /** The numbers of those in this thread; the conductor's is the size. */
  members: readonly number[]
  /** How many they have among them. */
  sessions: number
}

const { servers, fencePath, progress: memory, epoch } = workerData as WorkerData
const port = parentPort
if (port === null) throw new Error('this is no program of its own')

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

/** A scenario's members in this thread. */
class Group {
  readonly #leave = new AbortController()
  readonly #members = new Map<number, { member: Member; session: BenchSession }>()
  readonly #size: number
  readonly #sessions: readonly BenchSession[]
  readonly #ownsSessions: boolean

  constructor(scenario: Scenario, { directory, size, members }: Assignment, sessions: readonly BenchSession[]) {
    setMaxListeners(0, this.#leave.signal)
    this.#sessions = sessions
    this.#ownsSessions = scenario.ownSessions !== undefined
    this.#size = size
    for (const [i, index] of members.entries()) {
      const session = sessions[i % sessions.length]
      if (session === undefined) throw new Error('a member without a session')
      const seat = this.#participant(session, directory, index)
      const make = index === size ? scenario.trigger : scenario.member
      if (make !== undefined) this.#members.set(index, { member: make(seat), session })
    }
  }

  #participant(session: BenchSession, directory: string, index: number): Participant {
    const { signal } = this.#leave
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
   * @param atOnce so many, and the next ones when these have had answers
   * @returns when the deed began
   */
  async act(deed: string, who: number | 'all', atOnce: number): Promise<number> {
    const begun = now()
    const actors = [...this.#members].filter(([index]) => who === 'all' || who === index).map(([, actor]) => actor)
    for (let i = 0; i < actors.length; i += atOnce) {
      const some = actors.slice(i, i + atOnce)
      for (const { member } of some)
        Promise.resolve(member[deed]?.()).catch((error: unknown) => {
          if (!this.#leave.signal.aborted) fail(error)
        })
      if (i + atOnce < actors.length) await Promise.all(some.map(({ session }) => session.client.sync(fencePath)))
    }
    return begun
  }

  /** @param which the conductor alone where the others cannot be reached */
  async fence(which: 'all' | 'trigger'): Promise<void> {
    const sessions = this.#ownsSessions ? this.#sessions : shared
    const asked =
      which === 'all' ? sessions : [...this.#members].flatMap(([i, { session }]) => (i === this.#size ? [session] : []))
    await Promise.all(asked.map(({ client }) => client.sync(fencePath)))
  }

  async tearDown(): Promise<void> {
    this.#leave.abort()
    await Promise.all(this.#sessions.map(({ client }) => client.settled()))
  }

  async close(): Promise<void> {
    this.#leave.abort()
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

/** What the main thread may ask for. */
const commands = {
  /** Has at least so many sessions that scenarios share. */
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
    if (scenario === undefined) throw new Error(`no scenario is called ${assignment.scenario}`)
    const count = assignment.sessions
    const sessions = scenario.ownSessions === undefined ? shared : await open(count, scenario.ownSessions.timeout)
    groups.set(assignment.directory, new Group(scenario, assignment, sessions.slice(0, count)))
  },

  /** Which one the further duties are about. */
  select: (directory: string): void => {
    selected = groups.get(directory)
  },

  act: async (deed: string, who: number | 'all', atOnce: number): Promise<number | undefined> =>
    selected?.act(deed, who, atOnce),

  fence: async (which: 'all' | 'trigger'): Promise<void> => selected?.fence(which),

  traffic: (): Traffic => counter.traffic,

  /** Those since one asked last. */
  marks: (): Mark[] => {
    const taken = marks
    marks = []
    return taken
  },

  /** For how much of the time since one asked last this thread was at work; 1 is always. */
  busy: (): number => {
    const before = utilization
    utilization = performance.eventLoopUtilization()
    return performance.eventLoopUtilization(utilization, before).utilization
  },

  tearDown: async (directory: string): Promise<void> => {
    const leaving = groups.get(directory)
    await leaving?.tearDown()
    await leaving?.close()
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
