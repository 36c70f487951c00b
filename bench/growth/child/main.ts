// A measuring process: sets up one population of one size, and then measures one probe.
// May import: bench/growth/workloads.ts, bench/harness, bench/processes, bench/throughput/workloads.ts, src/index.ts.
import { answerTurns } from '../../processes/answer-turns.ts'
import type { PopulationName, Task } from '../workloads.ts'
import { calls } from './calls.ts'
import { frames, names } from './frames.ts'
import type { Probes } from './probe.ts'
import { sessions } from './sessions.ts'
import { lives, removed, watches } from './watches.ts'

const populations: Readonly<Record<PopulationName, (task: Task) => Promise<Probes>>> = {
  ...{ calls, young: calls, watches, removed, lives, sessions, frames, names },
}

answerTurns(async (task: Task) => {
  const { population, probe, baseline } = task.workload
  const probes = await populations[population](task)
  const measured = (name: string, span: number) => {
    const measure = probes[name]
    if (measure === undefined) throw new Error(`there is no probe named ${name}`)
    return measure(span)
  }
  const measure = async (span: number) => {
    const sample = await measured(probe, span)
    return baseline === undefined ? sample : { ...sample, baseline: await measured(baseline, span) }
  }
  await measure(task.warmUp)
  // Its sessions are not closed, because the server would have to notify all their watches.
  return { measure: () => measure(task.span), end: () => Promise.resolve() }
})
