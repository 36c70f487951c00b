// The same operation over and over, so many at a time.
import { percentile } from './percentile.ts'
import type { Sample, Steady, Task } from '../workloads.ts'
import { Counter, Sampler, type Subject, type Gauge } from './subject.ts'

/** A part of the time is for latencies: taking them costs some itself, and so is no part of the rest. */
const SAMPLED = 0.3

/** Before, V8 is compiling what is measured. */
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
