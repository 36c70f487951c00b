// Repeats one operation with a fixed number in flight.
import { measured } from '../../processes/answer-turns.ts'
import type { Sample, Turns } from '../../processes/turns.ts'
import type { Measure, Steady, Task } from '../workloads.ts'
import { Counter, Sampler, type Gauge, type Peer, type Subject } from './subject.ts'

/**
 * The share of the time in which latencies are sampled. It is separate, because sampling costs processor time itself.
 */
const SAMPLED = 0.3

/** The number of warm-up operations: enough for V8 to compile the code under measurement. */
const WARM_UP_OPERATIONS = 20_000

export async function steady(
  subject: Subject,
  { op, inFlight }: SteadyMeasure,
  { warmUp, span }: Pick<Task, 'warmUp' | 'span'>,
): Promise<Turns> {
  const peer = await subject.open()
  const run = runnerOf(peer, op, inFlight)
  await warm(run, warmUp)
  return {
    measure: async () => {
      const sample = await counted(run, span * (1 - SAMPLED))
      const sampler = new Sampler()
      await run(sampler, span * SAMPLED)
      const [p50, p99] = [50, 99].map(percent => percentile(sampler.latencies, percent)) as [number, number]
      return { ...sample, p50, p99 }
    },
    end: () => peer.close(),
  }
}

type SteadyMeasure = Pick<Extract<Measure, { is: 'steady' }>, 'op' | 'inFlight'>
type Run = (gauge: Gauge & { isOver: boolean }, ms: number) => Promise<void>

const runnerOf =
  (peer: Peer, op: Steady, inFlight: number): Run =>
  (gauge, ms) => {
    setTimeout(() => (gauge.isOver = true), ms)
    return peer.drive(op, inFlight, gauge)
  }

async function warm(run: Run, ms: number): Promise<void> {
  const counter = new Counter()
  do {
    counter.isOver = false
    await run(counter, ms)
  } while (counter.count < WARM_UP_OPERATIONS)
}

function counted(run: Run, span: number): Promise<Sample> {
  const counter = new Counter()
  return measured(() => run(counter, span).then(() => counter.count))
}

/** Returns a percentile by nearest rank. Sorts the values in place. */
const percentile = (values: number[], percent: number): number => {
  values.sort((a, b) => a - b)
  return values[Math.max(0, Math.ceil((percent / 100) * values.length) - 1)] ?? NaN
}
