// Plays one phase of each scenario with a few sessions of its own, and records it frame by frame, for the timeline in
// the report.
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { connect, type ObservedFrame } from '../../src/index.ts'
import { explain, xids } from '../../src/protocol/index.ts'
import { awaitQuiescence } from './quiescence.ts'
import type { Member, Phase, Scenario } from '../harness/scenario.ts'
import { openSessions, SESSION_TIMEOUT, BenchSession } from '../harness/sessions.ts'
import { FrameCounter } from './frame-counter.ts'

/** The number of sessions: enough for a herd, and few enough to draw each of them. */
const MEMBERS = 12
/** The longest sentence in characters. Longer ones, such as those with lists of names, are truncated. */
const MAX_SENTENCE = 140
const LENGTH_BYTES = 4

export interface RecordedEvent {
  /** The time from the action, ms. */
  at: number
  /** The session, numbered from 0 in the order of the queue. */
  who: number
  is: 'event' | 'request' | 'answer' | 'mark'
  /** The operation, or the type of the event. */
  op: string
  /** A sentence about the frame. */
  says: string
  /** The size of the frame, with its four length bytes. */
  bytes: number
}

export interface Recording {
  scenario: string
  phase: string
  sessions: number
  /** The session that acts: the holder of the lock. */
  actor: number
  happenings: RecordedEvent[]
}

/** Records the first phase of a step of each scenario, on separate sessions. Removes its nodes and sessions. */
export async function recordAll(scenarios: readonly Scenario[], servers: string): Promise<Recording[]> {
  const root = `/zkwire-bench-${randomUUID().slice(0, 8)}`
  await using admin = await connect(servers, { sessionTimeout: SESSION_TIMEOUT })
  await admin.create(root)
  const recorder = new Recorder(root)
  const sessions: BenchSession[] = []
  const { signal } = new AbortController()
  try {
    for (let i = 0; i <= MEMBERS; i++)
      sessions.push(
        ...(await openSessions(
          1,
          () => new BenchSession(servers, recorder.observerFor(i)),
          signal,
          () => undefined,
        )),
      )
    const recordings: Recording[] = []
    for (const scenario of scenarios) {
      const directory = `${root}/${scenario.name}`
      await admin.create(directory)
      await scenario.setUp?.(admin, directory)
      recordings.push(await record(scenario, directory, sessions, recorder))
    }
    return recordings
  } finally {
    await Promise.allSettled(sessions.map(session => session.close()))
    await admin.deleteRecursive(root)
  }
}

async function record(scenario: Scenario, directory: string, sessions: readonly BenchSession[], recorder: Recorder) {
  const ended = new AbortController()
  setMaxListeners(0, ended.signal)
  const lanes = Math.min(MEMBERS, scenario.sessions ?? MEMBERS)
  const laneOf = (member: number) => (member === MEMBERS ? MEMBERS : member % lanes)
  const count = scenario.hasTrigger === true ? MEMBERS + 1 : MEMBERS
  let marked = 0
  let failure: Error | undefined
  const fail = (error: unknown) => {
    failure ??= error instanceof Error ? error : new Error(String(error))
  }
  const members = Array.from({ length: count }, (_, index): Member => {
    const who = laneOf(index)
    const session = sessions[who]
    if (session === undefined) throw new Error(`no session for member ${index} of ${directory}`)
    const make = index === MEMBERS ? scenario.trigger : scenario.member
    const { client } = session
    const participant = {
      ...{ client, directory, index, signal: ended.signal },
      mark: () => {
        marked = index
        recorder.mark(who)
      },
      fail,
      cut: () => session.link.cut(),
      rearmed: () => session.rearmed(),
      isolate: () => session.link.down(),
      replaceSession: () => Promise.resolve(client),
    }
    return make?.(participant) ?? {}
  })
  const fenced = {
    traffic: () => Promise.resolve(recorder.traffic),
    fence: async () => {
      await Promise.all(sessions.map(({ client }) => client.sync(recorder.fencePath)))
    },
  }
  const act = ({ action }: Phase, who: number): void => {
    void members[who]?.[action]?.()?.catch(fail)
  }
  const actorsOf = ({ by }: Phase) => {
    if (by === 'trigger') return [MEMBERS]
    return by === 'all' ? members.map((_, who) => who) : [marked]
  }
  // One after the other, so that the order in the queue is that of the session numbers.
  for (const phase of scenario.warmUp)
    for (const who of actorsOf(phase)) {
      act(phase, who)
      await awaitQuiescence(fenced)
    }
  await awaitQuiescence(fenced)
  const [phase] = scenario.phases
  if (phase === undefined) throw new Error(`${scenario.name} has no phase`)
  const [actor = 0] = actorsOf(phase)
  recorder.start(directory)
  for (const who of actorsOf(phase)) act(phase, who)
  await awaitQuiescence(fenced)
  const happenings = recorder.stop()
  ended.abort()
  await Promise.all(sessions.map(({ client }) => client.settled()))
  if (failure !== undefined) throw failure
  const recorded = scenario.hasTrigger === true ? MEMBERS + 1 : lanes
  return {
    scenario: scenario.name,
    phase: phase.name,
    sessions: recorded,
    actor: laneOf(actor),
    happenings,
  } satisfies Recording
}

/** Records the frames of several sessions. */
class Recorder {
  readonly fencePath: string
  readonly #counter: FrameCounter
  #happenings: RecordedEvent[] | undefined
  #directory = ''
  #begun = 0

  constructor(fencePath: string) {
    this.fencePath = fencePath
    this.#counter = new FrameCounter(fencePath, { framePassed: () => undefined, otherFramePassed: () => undefined })
  }

  get traffic() {
    return structuredClone(this.#counter.traffic)
  }

  /** Returns the frame counter for one session. */
  observerFor(who: number): Pick<FrameCounter, 'observer'> {
    return {
      observer: onRearmed => {
        const count = this.#counter.observer(onRearmed)
        const opcodes = new Map<number, number>()
        return frame => {
          count(frame)
          if (!frame.first) this.#onFrame(who, frame, opcodes)
        }
      },
    }
  }

  /** @param directory removed from the recorded sentences */
  start(directory: string): void {
    this.#happenings = []
    this.#directory = directory
    this.#begun = performance.now()
  }

  mark(who: number): void {
    this.#note({ who, is: 'mark', op: '', says: 'has the lock', bytes: 0 })
  }

  stop(): RecordedEvent[] {
    const recorded = this.#happenings ?? []
    this.#happenings = undefined
    return recorded
  }

  /** @param opcodes the opcodes of the session's requests in flight, by xid */
  #onFrame(who: number, { from, bytes }: ObservedFrame, opcodes: Map<number, number>): void {
    const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const xid = frame.readInt32BE(0)
    const opcode = from === 'client' ? frame.readInt32BE(4) : opcodes.get(xid)
    if (from === 'client') opcodes.set(xid, frame.readInt32BE(4))
    else opcodes.delete(xid)
    if (this.#happenings === undefined) return
    const { op, sentence } = explain(bytes, { from, first: false, opcode })
    // Skip the frames of the benchmark itself.
    if (op === 'sync' || op === 'ping') return
    const is = from === 'client' ? 'request' : xid === xids.notification ? 'event' : 'answer'
    this.#note({ who, is, op, says: this.#shortened(sentence), bytes: LENGTH_BYTES + frame.length })
  }

  #note(happening: Omit<RecordedEvent, 'at'>): void {
    this.#happenings?.push({ at: performance.now() - this.#begun, ...happening })
  }

  #shortened(sentence: string): string {
    const short = sentence.replaceAll(`${this.#directory}/`, '').replaceAll(this.#directory, 'the lock')
    return short.length > MAX_SENTENCE ? `${short.slice(0, MAX_SENTENCE)}…` : short
  }
}
