// What a client under measurement has to be able to do, and how its operations are counted.
import type { Steady, Task } from '../workloads.ts'

export interface Subject {
  open(): Promise<Peer>
}

export interface Peer {
  /** Keeps so many operations under way until the gauge is over, and resolves when all are answered. */
  drive(op: Steady, inFlight: number, gauge: Gauge): Promise<void>
  /** Resolves when the watch is set; `fired` is called once. */
  watch(path: string, fired: () => void): Promise<void>
  close(): Promise<void>
}

/** Counts operations, and says when it is enough. */
export interface Gauge {
  readonly isOver: boolean
  began(): void
  ended(): void
}

export class Counter implements Gauge {
  isOver = false
  count = 0

  began(): void {
    // Only the answers count.
  }

  ended(): void {
    this.count++
  }
}

/** Times each operation as well. The answers come in the order of the requests, on every one of the clients. */
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

/** Of a client that calls back: each of `inFlight` lines begins its next operation when the last one has been answered. */
export function driveCallbacks(
  inFlight: number,
  gauge: Gauge,
  begin: (line: number, done: () => void) => void,
): Promise<void> {
  return new Promise(resolve => {
    let lines = inFlight
    for (let line = 0; line < inFlight; line++) {
      const next = () => {
        gauge.began()
        begin(line, done)
      }
      const done = () => {
        gauge.ended()
        if (!gauge.isOver) next()
        else if (--lines === 0) resolve()
      }
      next()
    }
  })
}

export type Make = (task: Task) => Promise<Subject>

/** Any failure ends the process: a figure would mean nothing. */
export function failIf(error: unknown): void {
  if (error) throw error instanceof Error ? error : new Error(`failed: ${JSON.stringify(error)}`)
}

/** A callback that takes an error, or a number of one, first. */
export const thenOrFail =
  (done: () => void) =>
  (error: unknown): void => {
    failIf(error)
    done()
  }
