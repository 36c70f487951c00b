// One phase of a scenario frame by frame, as the sessions in it see it: for the timeline in the report.
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { connect, type ObservedFrame } from '../../src/index.ts'
import { explain, xids } from '../../src/protocol/index.ts'
import { awaitQuiescence } from './quiescence.ts'
import type { Member, Phase, Scenario } from '../harness/scenario.ts'
import { openSessions, SESSION_TIMEOUT, BenchSession } from '../harness/sessions.ts'
import { FrameCounter } from './frame-counter.ts'

/** Enough of them to be a herd, and few enough to be drawn one by one. */
const MEMBERS = 12
/** A list of names is as long as there are names. */
const LONGEST_SENTENCE = 140
const LENGTH_BYTES = 4

export interface RecordedEvent {
  /** ms from the deed. */
  at: number
  /** The session, from 0 on in the order of the queue. */
  who: number
  is: 'event' | 'request' | 'answer' | 'mark'
  /** The operation, or the type of the event. */
  op: string
  /** In plain words. */
  says: string
  /** With the length. */
  bytes: number
}

export interface Recording {
  scenario: string
  phase: string
  sessions: number
  /** The session that sets it off: who holds the lock. */
  actor: number
  happenings: RecordedEvent[]
}

/** The first phase of a step of each, on sessions of their own. Leaves nothing behind. */
export async function recordAll(scenarios: readonly Scenario[], servers: string): Promise<Recording[]> {
  const root = `/zkwire-bench-${randomUUID().slice(0, 8)}`
  await using admin = await connect(servers, { sessionTimeout: SESSION_TIMEOUT })
  await admin.create(root)
  const ears = new Recorder(root)
  const sessions: BenchSession[] = []
  const { signal } = new AbortController()
  try {
    for (let i = 0; i <= MEMBERS; i++)
      sessions.push(
        ...(await openSessions(
          1,
          () => new BenchSession(servers, ears.observerFor(i)),
          signal,
          () => undefined,
        )),
      )
    const recordings: Recording[] = []
    for (const scenario of scenarios) {
      const directory = `${root}/${scenario.name}`
      await admin.create(directory)
      await scenario.setUp?.(admin, directory)
      recordings.push(await record(scenario, directory, sessions, ears))
    }
    return recordings
  } finally {
    await Promise.allSettled(sessions.map(session => session.close()))
    await admin.deleteRecursive(root)
  }
}

async function record(scenario: Scenario, directory: string, sessions: readonly BenchSession[], ears: Recorder) {
  const leave = new AbortController()
  setMaxListeners(0, leave.signal)
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
    if (session === undefined) throw new Error('a member without a session')
    const make = index === MEMBERS ? scenario.trigger : scenario.member
    const { client } = session
    const seat = {
      ...{ client, directory, index, signal: leave.signal },
      mark: () => {
        marked = index
        ears.mark(who)
      },
      fail,
      cut: () => session.link.cut(),
      rearmed: () => session.rearmed(),
      isolate: () => session.link.down(),
      replaceSession: () => Promise.resolve(client),
    }
    return make?.(seat) ?? {}
  })
  const fenced = {
    traffic: () => Promise.resolve(ears.traffic),
    fence: async () => {
      await Promise.all(sessions.map(({ client }) => client.sync(ears.fencePath)))
    },
  }
  const act = ({ action }: Phase, who: number): void => {
    void members[who]?.[action]?.()?.catch(fail)
  }
  const whoDoes = ({ by }: Phase) => {
    if (by === 'trigger') return [MEMBERS]
    return by === 'all' ? members.map((_, who) => who) : [marked]
  }
  // One after the other, so that sessions stand in the queue in the order of their numbers.
  for (const phase of scenario.warmUp)
    for (const who of whoDoes(phase)) {
      act(phase, who)
      await sessions[laneOf(who)]?.client.sync(ears.fencePath)
    }
  await awaitQuiescence(fenced)
  const [phase] = scenario.phases
  if (phase === undefined) throw new Error(`${scenario.name} has no phase`)
  const [actor = 0] = whoDoes(phase)
  ears.start(directory)
  for (const who of whoDoes(phase)) act(phase, who)
  await awaitQuiescence(fenced)
  const happenings = ears.stop()
  leave.abort()
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

/** Listens at the wire of some sessions. */
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

  /** @returns what a session takes for a counter */
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

  /** @param directory is left out of what is told */
  start(directory: string): void {
    this.#happenings = []
    this.#directory = directory
    this.#begun = performance.now()
  }

  mark(who: number): void {
    this.#note({ who, is: 'mark', op: '', says: 'has the lock', bytes: 0 })
  }

  stop(): RecordedEvent[] {
    const heard = this.#happenings ?? []
    this.#happenings = undefined
    return heard
  }

  /** @param opcodes of the session's requests without an answer, by xid */
  #onFrame(who: number, { from, bytes }: ObservedFrame, opcodes: Map<number, number>): void {
    const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const xid = frame.readInt32BE(0)
    const opcode = from === 'client' ? frame.readInt32BE(4) : opcodes.get(xid)
    if (from === 'client') opcodes.set(xid, frame.readInt32BE(4))
    else opcodes.delete(xid)
    if (this.#happenings === undefined) return
    const { op, sentence } = explain(bytes, { from, first: false, ...(opcode !== undefined && { opcode }) })
    // What the measuring itself says is no part of it.
    if (op === 'sync' || op === 'ping') return
    const is = from === 'client' ? 'request' : xid === xids.notification ? 'event' : 'answer'
    this.#note({ who, is, op, says: this.#shortened(sentence), bytes: LENGTH_BYTES + frame.length })
  }

  #note(happening: Omit<RecordedEvent, 'at'>): void {
    this.#happenings?.push({ at: performance.now() - this.#begun, ...happening })
  }

  #shortened(sentence: string): string {
    const told = sentence.replaceAll(`${this.#directory}/`, '').replaceAll(this.#directory, 'the lock')
    return told.length > LONGEST_SENTENCE ? `${told.slice(0, LONGEST_SENTENCE)}…` : told
  }
}
