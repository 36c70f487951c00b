// Plays one phase of each scenario with a few sessions of its own, and records it frame by frame, for the timeline in
// the report.
import { randomUUID } from 'node:crypto'
import { connect, explain, type Client, type ObservedFrame } from '../../src/index.ts'
import { xids } from '../../src/protocol/index.ts'
import { Performer } from '../harness/performer.ts'
import type { Phase, Scenario } from '../harness/scenario.ts'
import { SESSION_TIMEOUT } from '../harness/sessions.ts'
import { awaitQuiescence } from './quiescence.ts'

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
  const recorder = new Recorder(servers, root)
  try {
    await recorder.open()
    const recordings: Recording[] = []
    for (const scenario of scenarios) recordings.push(await recorder.record(scenario, admin))
    return recordings
  } finally {
    await recorder.close()
    await admin.deleteRecursive(root)
  }
}

/** A frame of the session `who`. */
export interface FrameOfSession {
  who: number
  at: number
  from: ObservedFrame['from']
  bytes: Uint8Array
  xid: number
  opcode: number | undefined
}

/** @param directory removed from the sentence */
export function eventOf({ who, at, from, bytes, xid, opcode }: FrameOfSession, since: number, directory: string) {
  const { op, sentence } = explain(bytes, { from, first: false, opcode })
  const short = sentence.replaceAll(`${directory}/`, '').replaceAll(directory, 'the lock')
  return {
    ...{ at: at - since, who, op },
    is: from === 'client' ? 'request' : xid === xids.notification ? 'event' : 'answer',
    says: short.length > MAX_SENTENCE ? `${short.slice(0, MAX_SENTENCE)}…` : short,
    bytes: LENGTH_BYTES + bytes.length,
  } satisfies RecordedEvent
}

/** @param at ms from the action */
export const markOf = (who: number, at: number): RecordedEvent => ({
  ...{ at, who, is: 'mark', op: '', says: 'has the lock', bytes: 0 },
})

class Recorder {
  readonly #root: string
  readonly #performer: Performer
  /** For each session, the opcodes of its requests in flight, by xid. */
  readonly #opcodes = Array.from({ length: MEMBERS + 1 }, () => new Map<number, number>())
  #happenings: RecordedEvent[] | undefined
  #directory = ''
  #begun = 0
  /** The number of sessions that the members of the scenario share. The trigger session comes on top. */
  #lanes = MEMBERS
  /** The member that has the lock. */
  #marked = 0
  #failure: Error | undefined

  constructor(servers: string, root: string) {
    this.#root = root
    const performer: Performer = new Performer({
      ...{ servers, fencePath: root, now: () => performance.now() },
      marked: () => {
        for (const { member } of performer.marks()) this.#onMark(member)
      },
      framePassed: () => undefined,
      otherFramePassed: () => undefined,
      observed: (who, frame) => this.#onFrame(who, frame),
      opened: () => undefined,
      failed: error => (this.#failure ??= error),
    })
    this.#performer = performer
  }

  async open(): Promise<void> {
    // One after the other, so that the performer numbers them in this order.
    for (let sessions = 1; sessions <= MEMBERS + 1; sessions++) await this.#performer.open(sessions)
  }

  close(): Promise<void> {
    return this.#performer.close()
  }

  async record({ name, hasTrigger = false, sessions = MEMBERS, ...scenario }: Scenario, admin: Client) {
    const performer = this.#performer
    const directory = `${this.#root}/${name}`
    await admin.create(directory)
    await scenario.setUp?.(admin, directory)
    const members = Array.from({ length: hasTrigger ? MEMBERS + 1 : MEMBERS }, (_, i) => i)
    this.#lanes = Math.min(MEMBERS, sessions)
    this.#marked = 0
    const shared = this.#lanes < MEMBERS ? this.#lanes : members.length
    await performer.assemble({ scenario: name, directory, size: MEMBERS, members, sessions: shared })
    performer.select(directory)
    const actorsOf = ({ by }: Phase) => {
      if (by === 'trigger') return [MEMBERS]
      return by === 'all' ? members : [this.#marked]
    }
    // One after the other, so that the order in the queue is that of the session numbers.
    for (const phase of scenario.warmUp)
      for (const who of actorsOf(phase)) {
        await performer.act(phase.action, who, Infinity)
        await this.#awaitQuiescence()
      }
    await this.#awaitQuiescence()
    const [phase] = scenario.phases
    if (phase === undefined) throw new Error(`${name} has no phase`)
    const actors = actorsOf(phase)
    const happenings: RecordedEvent[] = (this.#happenings = [])
    this.#directory = directory
    this.#begun = performance.now()
    for (const who of actors) void performer.act(phase.action, who, Infinity)
    await this.#awaitQuiescence()
    this.#happenings = undefined
    await performer.tearDown(directory)
    if (this.#failure !== undefined) throw this.#failure
    return {
      ...{ scenario: name, phase: phase.name, sessions: hasTrigger ? MEMBERS + 1 : this.#lanes },
      ...{ actor: this.#laneOf(actors[0] ?? 0), happenings },
    } satisfies Recording
  }

  #awaitQuiescence() {
    const performer = this.#performer
    return awaitQuiescence({
      traffic: () => Promise.resolve(performer.traffic()),
      fence: which => performer.fence(which),
    })
  }

  #laneOf(member: number): number {
    return member === MEMBERS ? MEMBERS : member % this.#lanes
  }

  #onMark(member: number): void {
    this.#marked = member
    this.#happenings?.push(markOf(this.#laneOf(member), performance.now() - this.#begun))
  }

  #onFrame(who: number, { from, bytes }: ObservedFrame): void {
    const opcodes = this.#opcodes[who]
    const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const xid = frame.readInt32BE(0)
    const opcode = from === 'client' ? frame.readInt32BE(4) : opcodes?.get(xid)
    if (from === 'client') opcodes?.set(xid, frame.readInt32BE(4))
    else opcodes?.delete(xid)
    if (this.#happenings === undefined) return
    this.#happenings.push(
      eventOf({ who, at: performance.now(), from, bytes, xid, opcode }, this.#begun, this.#directory),
    )
  }
}
