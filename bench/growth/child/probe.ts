// How a cost is taken.
import { setTimeout as delay } from 'node:timers/promises'
import type { Sample } from '../workloads.ts'

/** Measures until it has taken so many milliseconds of processor time, at least. */
export type Probe = (span: number) => Promise<Sample>

/** What stands ready at one size. */
export type Probes = Readonly<Record<string, Probe>>

const PATIENCE = 8

/** Processor time since it was made. */
export class CpuMeter {
  readonly #cpu = process.cpuUsage()
  readonly #begun = performance.now()

  /** Microseconds, of all threads. */
  get cpu(): number {
    const { user, system } = process.cpuUsage(this.#cpu)
    return user + system
  }

  /** On a busy machine a measurement takes longer, and is of as much work. What mostly waits, for a reconnect say, has an end all the same. */
  isOver(span: number): boolean {
    const { cpu } = this
    // The system counts in steps, of which there may have been none yet: a cost of nothing is none.
    return cpu > 0 && (cpu >= span * 1000 || performance.now() - this.#begun >= span * PATIENCE)
  }
}

/** Does the same over and over; `once` resolves to the number of operations that it was. */
export const repeated =
  (once: () => Promise<number>): Probe =>
  async span => {
    const meter = new CpuMeter()
    let operations = 0
    do operations += await once()
    while (!meter.isOver(span))
    return { operations, cost: meter.cpu }
  }

export const liveHeap = async (): Promise<number> => {
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.()
    // What is closed is let go of in a later turn.
    await delay(1)
  }
  return process.memoryUsage().heapUsed
}

/** So many at a time: none of it is to be about what a thousand calls in one turn cost. */
export async function inBatches(
  count: number,
  batch: number,
  each: (index: number) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < count; first += batch)
    await Promise.all(Array.from({ length: Math.min(batch, count - first) }, (_, i) => each(first + i)))
}
