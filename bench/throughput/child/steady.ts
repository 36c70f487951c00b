// Repeats one operation with a fixed number in flight.
import { percentile } from './percentile.ts'
import type { Sample, Steady, Task } from '../workloads.ts'
import { Counter, Sampler, type Subject, type Gauge } from './subject.ts'

/**
 * The share of the time in which latencies are sampled. It is separate, because sampling costs processor time itself.
 */
const SAMPLED = 0.3

/** The number of warm-up operations: enough for V8 to compile the code under measurement. */
const WARM_UP_OPERATIONS = 20_000

export async function steady(
  subject: Subject,
  { op, inFlight }: { op: Steady; inFlight: number },
  { warmUp, span }: Pick<Task, 'warmUp' | 'span'>,
): Promise<Sample> {
  const peer = await subject.open()
  const run = (gauge: Gauge & { isOver: boolean }, ms: number) => {
    setTimeout(() => (gauge.isOver = true), ms)
    return peer.drive(op, inFlight, gauge)
  }
  const warming = new Counter()
  do {
    warming.isOver = false
    await run(warming, warmUp)
  } while (warming.count < WARM_UP_OPERATIONS)
  const { count, cpu, ms } = await counted(run, span * (1 - SAMPLED))
  const sampler = new Sampler()
  await run(sampler, span * SAMPLED)
  await peer.close()
  const [p50, p99] = [50, 99].map(percent => percentile(sampler.latencies, percent)) as [number, number]
  return { operations: count, cpu, ms, p50, p99 }
}

async function counted(run: (gauge: Counter, ms: number) => Promise<void>, span: number) {
  const counter = new Counter()
  const before = { cpu: process.cpuUsage(), now: performance.now() }
  await run(counter, span)
  const { user, system } = process.cpuUsage(before.cpu)
  return { count: counter.count, cpu: user + system, ms: performance.now() - before.now }
}
