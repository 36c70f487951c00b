// Sessions that are each connected to one given server. So the clients' counts are known for each server.
import { execute, type CommandMessage } from '../harness/messages.ts'
import { monotonicMs, Performer } from '../harness/performer.ts'
import type { Phase, Scenario } from '../harness/scenario.ts'
import { ProgressCounters } from '../harness/progress-counters.ts'
import { Workers, type UnitStart, type WorkersOwner } from '../harness/workers.ts'
import { combined, minus, type Counts, type Traffic } from '../measure/frame-counter.ts'
import { awaitQuiescence } from '../measure/quiescence.ts'

/** Returns the index of the server of a member among `size` members. The trigger session is member `size`. */
export type Placement = (member: number, size: number) => number

/** What one phase caused. */
export interface Passed {
  /** The times of the marks, in order, ms from the action. */
  marks: number[]
  /** The member that was marked last. */
  last: number | undefined
  /** The time until no traffic was in flight, with the fences that prove it, ms. */
  ms: number
  byServer: Counts[]
}

/** The longest that a timer allows. The caller's signal ends a phase that hangs. */
const NO_LIMIT = 0x7fff_ffff

export class PinnedSessions {
  readonly workers: Workers
  #place: Placement = () => 0

  constructor(addresses: readonly string[], fencePath: string, owner: WorkersOwner) {
    const starts = addresses.map(address => localUnit(address, fencePath))
    this.workers = new Workers(starts, owner, (member, size) => this.#place(member, size))
  }

  /** Opens the sessions of a scenario, and lets its members gather. */
  async assemble(scenario: Scenario, directory: string, size: number, place: Placement): Promise<void> {
    this.#place = place
    await this.workers.open(size + 1)
    await this.workers.assemble(scenario, directory, size)
    await this.workers.select(directory)
  }

  /** Plays one phase of the scenario in this directory, with the same placement as it was assembled. */
  async play(directory: string, size: number, place: Placement, phase: Phase, who: number | 'all'): Promise<Passed> {
    const { workers } = this
    this.#place = place
    await workers.select(directory)
    const before = await workers.trafficByUnit()
    workers.expect(phase.marks(size), undefined)
    const begun = performance.now()
    await workers.act(phase.action, who)
    await workers.reached(NO_LIMIT)
    await awaitQuiescence(workers)
    const ms = performance.now() - begun
    const after = await workers.trafficByUnit()
    const marks = await workers.marks()
    return {
      marks: marks.map(({ at }) => at),
      last: marks.at(-1)?.member,
      ms,
      byServer: after.map((traffic, i) => minus(countsOf(traffic), countsOf(before[i] ?? traffic))),
    }
  }
}

const countsOf = ({ work, handshakes }: Traffic): Counts => combined(work, handshakes)

/** A performer in this process and thread. */
const localUnit =
  (servers: string, fencePath: string): UnitStart =>
  ({ progress: memory, received }) => {
    const progress = new ProgressCounters(memory, () => received({ is: 'reached' }))
    const performer = new Performer({
      ...{ servers, fencePath, now: monotonicMs },
      marked: () => progress.marked(),
      framePassed: () => progress.framePassed(),
      otherFramePassed: () => progress.otherFramePassed(),
      opened: () => received({ is: 'opened' }),
      failed: error => received({ is: 'failed', error }),
    })
    return {
      clock: 'here',
      send: (message: CommandMessage) => void execute(performer, message).then(received),
      terminate: () => Promise.resolve(),
    }
  }
