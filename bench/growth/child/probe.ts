// What the probes of all populations have in common.
import { setTimeout as delay } from 'node:timers/promises'
import { Meter } from '../../processes/answer-turns.ts'
import type { Sample } from '../../processes/turns.ts'

/** Returns a sample. A repeating probe measures until {@link Meter.isOver} returns true for `span`. */
export type Probe = (span: number) => Promise<Sample>

/** The probes of a population, by name. */
export type Probes = Readonly<Record<string, Probe>>

/** Repeats `once`, which resolves with the number of operations that it executed. */
export const repeated =
  (once: () => Promise<number>): Probe =>
  async span => {
    const meter = new Meter()
    let operations = 0
    do operations += await once()
    while (!meter.isOver(span))
    return meter.sample(operations)
  }

/** Measures by how much the live heap has grown since it was `before`. */
export const memory =
  (size: number, before: number): Probe =>
  async () => {
    const meter = new Meter()
    const grown = (await liveHeap()) - before
    return { ...meter.sample(size), bytes: grown / size }
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
