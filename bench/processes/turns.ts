// Measurements in turns: several processes are open at the same time, and each is measured for a moment.
// May import: bench/output/usage.ts, esbuild.

/** What a measuring process replies. */
export interface Sample {
  operations: number
  /** Processor time of the whole process, microseconds. */
  cpu: number
  ms: number
  /** Median latency, ms. */
  p50?: number
  /** 99th percentile of the latency, ms. */
  p99?: number
  /** Memory of one session or watch. */
  bytes?: number
  /** Processor time of the server, microseconds. NaN if the system does not report it. */
  server?: number
  /** The same process's measurement of the minimum that any client needs. */
  baseline?: Sample
}

/** A process whose work is measured in turns with that of other processes. It is warmed up. */
export interface Turns {
  measure(): Promise<Sample>
  end(): Promise<unknown>
}

/** A later message to a measuring process, after its task: measure once more, or exit. */
export type Request = 'turn' | 'end'

/** Rotates the order, so that none is always measured first. */
export const rotated = <T>(all: readonly T[], round: number): T[] => {
  const first = round % Math.max(1, all.length)
  return [...all.slice(first), ...all.slice(0, first)]
}

/**
 * Measures the processes of all variants so many times. They take turns, in another order each time. All are opened before
 * the first turn. Otherwise the processor time in which a server's Java machine compiles its code would be counted for
 * the first one.
 */
export async function measureInTurns<V>(
  variants: readonly V[],
  turns: number,
  open: (variant: V) => Promise<Turns>,
  show: (variant: V, turn: number) => void = () => undefined,
): Promise<Map<V, Sample[]>> {
  const all: { variant: V; process: Turns; samples: Sample[] }[] = []
  try {
    for (const variant of variants) all.push({ variant, process: await open(variant), samples: [] })
    for (let turn = 0; turn < turns; turn++)
      for (const { variant, process, samples } of rotated(all, turn)) {
        show(variant, turn)
        samples.push(await process.measure())
      }
  } finally {
    await Promise.all(all.map(({ process }) => process.end()))
  }
  return new Map(all.map(({ variant, samples }) => [variant, samples]))
}
