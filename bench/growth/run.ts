// A whole run, curve by curve. Each size has a measuring process, and the sizes take turns.
import { connect } from '../../src/index.ts'
import { refuseWithoutDescriptors } from '../harness/descriptors.ts'
import { serverFor } from '../harness/server.ts'
import { sum } from '../measure/statistics.ts'
import { MeasuringProcess, startHelper } from '../processes/measuring-process.ts'
import type { Rounds } from '../processes/options.ts'
import { bundled } from '../processes/program.ts'
import { measureInTurns, type Sample } from '../processes/turns.ts'
import { populationOf, type Population, type Task, type Workload } from './workloads.ts'
import type { Samples } from './verdict.ts'

export interface Plan extends Rounds<Workload> {
  sizesOf: (population: Population) => readonly number[]
  /** Kills the measuring processes, so that the run rejects. */
  signal?: AbortSignal
}

export async function run(plan: Plan, show: (activity: string) => void): Promise<Samples> {
  const program = await bundled(new URL('child/main.ts', import.meta.url))
  await using embedded = await startEmbedded()
  await using mock = await startHelper(new URL('../throughput/mock.ts', import.meta.url))
  await using client = await connect(embedded.servers)
  const { rounds, warmUp, span, signal } = plan
  const samples = new Map<Workload, Map<number, Sample[]>>()
  for (const workload of plan.workloads) {
    const population = populationOf(workload)
    const { label, execArgv = [] } = population
    const sizes = plan.sizesOf(population).filter(size => size >= (workload.from ?? 0))
    if (population.name === 'sessions')
      refuseWithoutDescriptors({ sessions: sum(sizes), threads: 1, servers: mock.pid === undefined ? [] : [mock.pid] })
    // New processes for each curve, because the garbage of one probe would slow down the next one, and more so at
    // larger sizes.
    const open = async (size: number) => {
      show(`${size} ${label}: preparing ${workload.probe}`)
      const { path: directory } = await client.create('/crowd-', '', { mode: 'persistentSequential' })
      const servers = { mock: `127.0.0.1:${mock.port}`, server: embedded.servers }
      const task: Task = { workload, size, directory, warmUp, span, ...servers }
      const about = `${size} ${population.name}`
      return MeasuringProcess.open(program, task, { about, execArgv: [...execArgv, ...plan.execArgv], signal })
    }
    const measured = await measureInTurns(sizes, rounds, open, (size, round) =>
      show(`${label}: round ${round + 1} of ${rounds}, ${workload.probe} with ${size}`),
    )
    samples.set(workload, measured)
  }
  return samples
}

async function startEmbedded(): Promise<AsyncDisposable & { servers: string }> {
  const { servers, close } = await serverFor('embedded')
  return { servers, [Symbol.asyncDispose]: close }
}
