// The program of a worker process: sets up one population of one size, and then measures on request.
// May import: bench/growth/workloads.ts, bench/harness, bench/throughput/workloads.ts, src/index.ts.
import type { PopulationName, MeasureRequest, Task } from '../workloads.ts'
import { calls } from './calls.ts'
import { frames, names } from './frames.ts'
import type { Probes } from './probe.ts'
import { sessions } from './sessions.ts'
import { lives, removed, watches } from './watches.ts'

const populations: Readonly<Record<PopulationName, (task: Task) => Promise<Probes>>> = {
  ...{ calls, young: calls, watches, removed, lives, sessions, frames, names },
}

async function answer(probes: Probes, { probe, span }: MeasureRequest): Promise<void> {
  const measure = probes[probe]
  if (measure === undefined) throw new Error(`there is no probe named ${probe}`)
  process.send?.(await measure(span))
}

process.once('disconnect', () => process.exit())
process.once('message', (task: Task) => {
  void populations[task.population](task).then(probes => {
    process.on('message', (request: MeasureRequest) => void answer(probes, request))
    process.send?.('ready')
  })
})
