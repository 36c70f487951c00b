// A whole run, curve by curve. Each size has a worker process, and the sizes take turns.
import { connect, type Client } from '../../src/index.ts'
import { refuseWithoutDescriptors } from '../harness/descriptors.ts'
import { serverFor } from '../harness/server.ts'
import { sum } from '../measure/statistics.ts'
import { MeasuringProcess, rotated, startHelper } from '../processes/measuring-process.ts'
import { bundled } from '../processes/program.ts'
import {
  populationOf,
  type MeasureRequest,
  type Population,
  type Sample,
  type Task,
  type Workload,
} from './workloads.ts'
import type { Samples } from './verdict.ts'

export interface Plan {
  workloads: readonly Workload[]
  sizesOf: (population: Population) => readonly number[]
  rounds: number
  /** Warm-up of each probe at each size, ms of processor time. */
  warmUp: number
  /** Length of each measurement, ms of processor time. */
  span: number
  /** Options of node for the worker processes. */
  execArgv: readonly string[]
  /** Kills the worker processes, so that the run rejects. */
  signal?: AbortSignal
}

export async function run(plan: Plan, show: (activity: string) => void): Promise<Samples> {
  const program = await bundled(new URL('child/main.ts', import.meta.url))
  await using embedded = await startEmbedded()
  await using mock = await startHelper(new URL('../throughput/mock.ts', import.meta.url))
  await using client = await connect(embedded.servers)
  const samples = new Map<Workload, Map<number, { own: Sample[]; baseline: Sample[] }>>()
  for (const workload of plan.workloads) {
    const population = populationOf(workload)
    const sizes = plan.sizesOf(population).filter(size => size >= (workload.from ?? 0))
    if (population.name === 'sessions')
      refuseWithoutDescriptors({ sessions: sum(sizes), threads: 1, servers: mock.pid === undefined ? [] : [mock.pid] })
    // New processes for each curve, because the garbage of one probe would slow down the next one, and more so at
    // larger sizes.
    await using processes = new WorkerProcesses(
      program,
      { mock: `127.0.0.1:${mock.port}`, server: embedded.servers },
      client,
      plan,
    )
    for (const size of sizes) {
      show(`${size} ${population.label}: preparing ${workload.probe}`)
      await processes.open(population, size, workload)
    }
    const bySize = new Map(sizes.map(size => [size, { own: [] as Sample[], baseline: [] as Sample[] }]))
    samples.set(workload, bySize)
    for (let round = 0; round < plan.rounds; round++)
      for (const worker of processes.inOrder(round)) {
        show(`${population.label}: round ${round + 1} of ${plan.rounds}, ${workload.probe} with ${worker.size}`)
        const series = bySize.get(worker.size)
        series?.own.push(await worker.measure({ probe: workload.probe, span: plan.span }))
        if (workload.baseline !== undefined)
          series?.baseline.push(await worker.measure({ probe: workload.baseline, span: plan.span }))
      }
  }
  return samples
}

/** The process of one size. */
interface Worker {
  size: number
  process: MeasuringProcess<Task | MeasureRequest, Sample | 'ready'>
  measure(request: MeasureRequest): Promise<Sample>
}

/** The worker processes of one curve, one for each size. */
class WorkerProcesses implements AsyncDisposable {
  readonly #program: string
  readonly #servers: { mock: string; server: string }
  readonly #client: Client
  readonly #plan: Plan
  readonly #all: Worker[] = []

  constructor(program: string, servers: { mock: string; server: string }, client: Client, plan: Plan) {
    this.#program = program
    this.#servers = servers
    this.#client = client
    this.#plan = plan
  }

  async open({ name, execArgv = [] }: Population, size: number, { probe, baseline }: Workload): Promise<void> {
    const { path: directory } = await this.#client.create('/crowd-', '', { mode: 'persistentSequential' })
    const task = { population: name, size, directory, ...this.#servers }
    const { execArgv: more, signal, warmUp } = this.#plan
    const about = `${size} ${name}`
    const process: Worker['process'] = new MeasuringProcess(this.#program, {
      about,
      execArgv: [...execArgv, ...more],
      signal,
    })
    const measure = async (request: MeasureRequest) => (await process.request(request)) as Sample
    this.#all.push({ size, process, measure })
    await process.request(task)
    for (const each of baseline === undefined ? [probe] : [probe, baseline])
      await measure({ probe: each, span: warmUp })
  }

  inOrder(round: number): Worker[] {
    return rotated(this.#all, round)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(({ process }) => process.kill()))
  }
}

async function startEmbedded(): Promise<AsyncDisposable & { servers: string }> {
  const { servers, close } = await serverFor('embedded')
  return { servers, [Symbol.asyncDispose]: close }
}
