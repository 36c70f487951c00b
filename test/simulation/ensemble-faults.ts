// Faults of the servers of an embedded ensemble: one server at a time lags, is cut off, paused or stopped, or the
// servers elect another leader.
import type { Clock } from '../../src/index.ts'
import type { Member, Server } from '../../src/server/index.ts'
import type { FaultWindow } from '../linearizability/evidence.ts'
import { oneOf, type Random } from '../support/seeded-random.ts'

export interface EnsembleFaultParameters {
  random: Random
  /** The duration in milliseconds. */
  ms: number
}

export class EnsembleFaults {
  readonly #server: () => Server
  readonly #clock: Clock
  /** The time, ms, after which nobody believes any more what a server said that could not reach the leader. */
  readonly #aftermath: () => number
  /** The end of the current fault. */
  #end: (() => Promise<void>) | undefined
  readonly #windows: FaultWindow[] = []

  constructor(server: () => Server, clock: Clock, aftermath: () => number) {
    this.#server = server
    this.#clock = clock
    this.#aftermath = aftermath
  }

  /** When a server could not tell its clients what the leader had done. */
  get windows(): readonly FaultWindow[] {
    return this.#windows
  }

  /** The kinds of faults. Does nothing if a server has a fault already, because a majority must be left. */
  readonly injectors = {
    lag: (_: unknown, { random, ms }: EnsembleFaultParameters) =>
      this.#during(ms / 2, oneOf(random, this.#members), {
        begin: member => member.lag(Math.ceil(ms * 0.2)),
        end: member => member.lag(0),
      }),
    cutOff: (_: unknown, { random, ms }: EnsembleFaultParameters) =>
      this.#during(2 * ms, oneOf(random, this.#members), {
        begin: member => member.cutOff(),
        end: member => member.heal(),
      }),
    pauseMember: (_: unknown, { random, ms }: EnsembleFaultParameters) =>
      this.#during(ms, oneOf(random, this.#members), {
        begin: member => member.pause(),
        end: member => member.resume(),
      }),
    stopMember: (_: unknown, { random, ms }: EnsembleFaultParameters) =>
      this.#during(ms, oneOf(random, this.#members), {
        begin: member => void member.stop(),
        end: member => member.start(),
      }),
    elect: () => void this.#server().elect(),
  }

  /** Ends the current fault. */
  async clear(): Promise<void> {
    await this.#end?.()
  }

  get #members(): readonly Member[] {
    return this.#server().members
  }

  #during(
    ms: number,
    member: Member | undefined,
    { begin, end }: { begin: (member: Member) => void; end: (member: Member) => unknown },
  ): void {
    if (member === undefined || this.#end !== undefined) return
    const window = { from: this.#clock.now(), to: Infinity, idPrefix: '' }
    this.#windows.push(window)
    begin(member)
    const over = async () => {
      if (this.#end !== over) return
      this.#end = undefined
      this.#clock.clearTimeout(timer)
      window.to = this.#clock.now() + this.#aftermath()
      await end(member)
    }
    this.#end = over
    const timer = this.#clock.setTimeout(() => void over(), ms)
  }
}
