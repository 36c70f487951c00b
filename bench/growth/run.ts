// A whole run: curve by curve; all its sizes stand ready, and take turns.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connect, type Client } from '../../src/index.ts'
import { refuseWithoutDescriptors } from '../harness/descriptors.ts'
import { serverFor } from '../harness/server.ts'
import { sum } from '../measure/statistics.ts'
import { populationOf, type Curve, type Population, type Sample } from './workloads.ts'
import type { Samples } from './verdict.ts'
import { buildProgram } from './program.ts'
import { Station } from './worker-process.ts'

export interface Plan {
  curves: readonly Curve[]
  sizesOf: (population: Population) => readonly number[]
  rounds: number
  /** Of warming up, and of measuring, of each probe at each size: milliseconds of processor time. */
  warmUp: number
  span: number
  /** For node, of the measuring processes. */
  execArgv: readonly string[]
  /** Ends the run at once: it rejects, and leaves nothing. */
  signal?: AbortSignal
}

export async function run(plan: Plan, say: (what: string) => void): Promise<Samples> {
  const program = await buildProgram()
  await using embedded = await startEmbedded()
  await using mock = await startMock()
  await using client = await connect(embedded.servers)
  const samples = new Map<Curve, Map<number, { own: Sample[]; beside: Sample[] }>>()
  for (const curve of plan.curves) {
    const population = populationOf(curve)
    const sizes = plan.sizesOf(population).filter(size => size >= (curve.from ?? 0))
    if (population.crowd === 'sessions') refuseWithoutDescriptors(sum(sizes), 1, mock.pid)
    // For each curve anew: what one probe leaves in a heap, another would pay for, and the more the larger the crowd.
    await using stations = new Stations(program, { mock: mock.servers, server: embedded.servers }, client, plan)
    for (const size of sizes) {
      say(`${size} ${population.of}: getting ready for ${curve.probe}`)
      await stations.open(population, size, curve)
    }
    const bySize = new Map(sizes.map(size => [size, { own: [] as Sample[], beside: [] as Sample[] }]))
    samples.set(curve, bySize)
    for (let round = 0; round < plan.rounds; round++)
      for (const station of stations.inTurn(round)) {
        say(`${population.of}: round ${round + 1} of ${plan.rounds}, ${curve.probe} with ${station.size}`)
        const series = bySize.get(station.size)
        series?.own.push(await station.measure({ probe: curve.probe, span: plan.span }))
        if (curve.beside !== undefined)
          series?.beside.push(await station.measure({ probe: curve.beside, span: plan.span }))
      }
  }
  return samples
}

/** All sizes of one crowd. */
class Stations implements AsyncDisposable {
  readonly #program: string
  readonly #servers: { mock: string; server: string }
  readonly #client: Client
  readonly #plan: Plan
  readonly #all: Station[] = []

  constructor(program: string, servers: { mock: string; server: string }, client: Client, plan: Plan) {
    this.#program = program
    this.#servers = servers
    this.#client = client
    this.#plan = plan
  }

  async open({ crowd, execArgv = [] }: Population, size: number, { probe, beside }: Curve): Promise<void> {
    const { path: directory } = await this.#client.create('/crowd-', '', { mode: 'persistentSequential' })
    const task = { crowd, size, directory, ...this.#servers }
    const station = new Station(this.#program, task, [...execArgv, ...this.#plan.execArgv], this.#plan.signal)
    this.#all.push(station)
    await station.ready()
    for (const each of beside === undefined ? [probe] : [probe, beside])
      await station.measure({ probe: each, span: this.#plan.warmUp })
  }

  /** No size is always the first, or always behind the same one. */
  inTurn(round: number): Station[] {
    const first = round % this.#all.length
    return [...this.#all.slice(first), ...this.#all.slice(0, first)]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(station => station.end()))
  }
}

async function startEmbedded(): Promise<AsyncDisposable & { servers: string }> {
  const { servers, close } = await serverFor('embedded')
  return { servers, [Symbol.asyncDispose]: close }
}

async function startMock(): Promise<AsyncDisposable & { servers: string; pid: number | undefined }> {
  const mock = fork(fileURLToPath(new URL('../throughput/mock.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] })
  const gone = once(mock, 'exit')
  const [{ port }] = (await once(mock, 'message')) as [{ port: number }]
  const stop = async () => {
    mock.disconnect()
    await gone
  }
  return { servers: `127.0.0.1:${port}`, pid: mock.pid, [Symbol.asyncDispose]: stop }
}
