// The interface of a client under measurement, and the counters of its operations.
import type { Steady, Task } from '../workloads.ts'

export interface Subject {
  open(): Promise<Peer>
}

export interface Peer {
  /** Keeps `inFlight` operations in flight until `gauge.isOver`, and resolves when all are answered. */
  drive(op: Steady, inFlight: number, gauge: Gauge): Promise<void>
  /** Resolves when the watch is set. Calls `fired` once. */
  watch(path: string, fired: () => void): Promise<void>
  close(): Promise<void>
}

/** Counts operations until the measurement is over. */
export interface Gauge {
  readonly isOver: boolean
  began(): void
  ended(): void
}

export class Counter implements Gauge {
  isOver = false
  count = 0

  began(): void {
    // Only replies are counted.
  }

  ended(): void {
    this.count++
  }
}

/** Also times each operation. All clients get their replies in the order of the requests. */
export class Sampler implements Gauge {
  isOver = false
  readonly latencies: number[] = []
  readonly #begun = new Float64Array(1024)
  #first = 0
  #next = 0

  began(): void {
    this.#begun[this.#next++ % this.#begun.length] = performance.now()
  }

  ended(): void {
    this.latencies.push(performance.now() - (this.#begun[this.#first++ % this.#begun.length] ?? NaN))
  }
}

/** Drives a client with callbacks: each of `inFlight` loops starts its next operation when the last one is answered. */
export function driveCallbacks(
  inFlight: number,
  gauge: Gauge,
  begin: (loop: number, done: () => void) => void,
): Promise<void> {
  return new Promise(resolve => {
    let loops = inFlight
    for (let loop = 0; loop < inFlight; loop++) {
      const next = () => {
        gauge.began()
        begin(loop, done)
      }
      const done = () => {
        gauge.ended()
        if (!gauge.isOver) next()
        else if (--loops === 0) resolve()
      }
      next()
    }
  })
}

export type Make = (task: Task) => Promise<Subject>

/** Ends the process if an operation fails, because its figure would be wrong. */
export function failIf(error: unknown): void {
  if (error) throw error instanceof Error ? error : new Error(`failed: ${JSON.stringify(error)}`)
}

/** Returns a callback whose first parameter is an error, or an error code. */
export const thenOrFail =
  (done: () => void) =>
  (error: unknown): void => {
    failIf(error)
    done()
  }
