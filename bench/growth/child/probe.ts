// Measures the cost of an operation.
import { setTimeout as delay } from 'node:timers/promises'
import type { Sample } from '../workloads.ts'

/** Returns a sample. A repeating probe measures until {@link CpuMeter.isOver} returns true for `span`. */
export type Probe = (span: number) => Promise<Sample>

/** The probes of a population, by name. */
export type Probes = Readonly<Record<string, Probe>>

/** A measurement ends at the latest when its wall-clock time is this many times its span. */
const PATIENCE = 8

/** Measures the process's processor time since the meter was constructed. */
export class CpuMeter {
  readonly #cpu = process.cpuUsage()
  readonly #begun = performance.now()

  /** The processor time of all threads in microseconds. */
  get cpu(): number {
    const { user, system } = process.cpuUsage(this.#cpu)
    return user + system
  }

  /**
   * True after `span` ms of processor time, so that a busy machine makes a measurement longer but does not reduce its
   * operations. Also true after {@link PATIENCE} * `span` ms of wall-clock time, because some probes mostly wait, for
   * example for a reconnect.
   */
  isOver(span: number): boolean {
    const { cpu } = this
    // The system counts in ticks. Before the first tick the cost would be zero.
    return cpu > 0 && (cpu >= span * 1000 || performance.now() - this.#begun >= span * PATIENCE)
  }
}

/** Repeats `once`, which resolves with the number of operations that it executed. */
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
    // Node releases closed handles in a later turn.
    await delay(1)
  }
  return process.memoryUsage().heapUsed
}

/** Runs `each` in batches, so that setting up does not depend on the cost of many calls in one turn. */
export async function inBatches(
  count: number,
  batch: number,
  each: (index: number) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < count; first += batch)
    await Promise.all(Array.from({ length: Math.min(batch, count - first) }, (_, i) => each(first + i)))
}
