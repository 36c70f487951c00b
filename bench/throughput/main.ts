// `npm run bench:throughput`: ours and the others, in turns, each measurement in a process of its own. See bench/README.md.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { connect, type Client } from '../../src/index.ts'
import { startApacheZooKeeper } from '../../test/support/apache-zookeeper.ts'
import { thisMachine } from '../output/result.ts'
import { asked } from '../output/usage.ts'
import { buildChild } from './child-program.ts'
import { Curator } from './curator.ts'
import { verdictsOf } from './verdict.ts'
import { help, parseOptions, type Options } from './options.ts'
import { installPeers, peersFrom } from './peers.ts'
import { tableOf, verdictTableOf } from './table.ts'
import {
  DATA_BYTES,
  nameOf,
  NAMES,
  places,
  type ContestantName,
  type Sample,
  type Task,
  type Workload,
} from './workloads.ts'

const dist = new URL('../../dist', import.meta.url).href

class Bench implements AsyncDisposable {
  readonly #options: Options
  readonly #program: string
  readonly #client: Client
  readonly #ports: Record<Workload['on'], number>
  readonly #mock: ChildProcess
  readonly #curator: Curator | undefined
  #directories = 0

  private constructor(
    options: Options,
    program: string,
    client: Client,
    ports: Record<Workload['on'], number>,
    mock: ChildProcess,
    curator: Curator | undefined,
  ) {
    this.#options = options
    this.#program = program
    this.#client = client
    this.#ports = ports
    this.#mock = mock
    this.#curator = curator
  }

  static async ready(options: Options, serverPort: number): Promise<Bench> {
    const program = await buildChild()
    const wanted = new Set(options.workloads.flatMap(({ by }) => by.filter(name => options.contestants.includes(name))))
    if (wanted.has('node-zookeeper-client') || wanted.has('zookeeper')) await installPeers()
    const curator = wanted.has('curator') ? await Curator.ready() : undefined
    const client = await connect(`127.0.0.1:${serverPort}`, { sessionTimeout: 60_000 })
    await client.ensurePath(places.data)
    await client.setData(places.data, Buffer.alloc(DATA_BYTES, 'x'))
    await client.ensurePath(places.watched)
    await client.ensurePath(places.list)
    await Promise.all(Array.from({ length: NAMES }, (_, i) => client.create(`${places.list}/${nameOf(i)}`)))
    const mock = fork(fileURLToPath(new URL('mock.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] })
    const [{ port }] = (await once(mock, 'message')) as [{ port: number }]
    return new Bench(options, program, client, { server: serverPort, mock: port }, mock, curator)
  }

  async measure({ measure, on }: Workload, contestant: ContestantName): Promise<Sample> {
    const directory = `/zkwire-throughput/${this.#directories++}`
    await this.#client.create(directory)
    const port = this.#ports[on]
    const sample =
      contestant === 'curator' && measure.is === 'handOver'
        ? this.#curator?.handOver(port, directory, measure)
        : this.#fork({
            ...{ contestant, measure, port, directory, dist, peers: peersFrom },
            warmUp: this.#options.warmUp,
            span: this.#options.span,
          })
    const result = await sample
    if (result === undefined) throw new Error(`${contestant} was not made ready`)
    if (measure.is === 'steady' && measure.op === 'createAndDelete')
      await this.#proveDone(directory, result, measure.inFlight)
    await this.#client.deleteRecursive(directory)
    return result
  }

  /** Whoever only counts answers must have been answered what it counts. */
  async #proveDone(directory: string, { operations }: Sample, inFlight: number): Promise<void> {
    const stat = await this.#client.exists(directory)
    if (stat === null || stat.numChildren > inFlight || stat.cversion < operations)
      throw new Error(`of ${operations} creates and deletes the server shows ${JSON.stringify(stat, showBigInts)}`)
  }

  async #fork(task: Task): Promise<Sample> {
    const child = fork(this.#program, { execArgv: ['--expose-gc', ...this.#options.execArgv] })
    const exit = once(child, 'exit').then(([code, signal]) => {
      throw new Error(
        `${task.contestant} ended with ${code ?? signal} while it was measured: ${JSON.stringify(task.measure)}`,
      )
    })
    const sample = new Promise<Sample>(resolve => {
      child.on('message', (message: 'change' | 'now' | Sample) => {
        if (message === 'change') child.send('ready')
        else if (message === 'now') void this.#client.setData(places.watched, '')
        else resolve(message)
      })
    })
    child.send(task)
    const deadline = setTimeout(() => child.kill('SIGKILL'), DEADLINE)
    try {
      return await Promise.race([sample, exit])
    } finally {
      clearTimeout(deadline)
      // It is gone before the next one is measured.
      await exit.catch(() => undefined)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#mock.kill()
    await this.#client.close()
  }
}

/** Is a target's ratio made of it? */
const isJudged = ({ targets }: Workload, name: ContestantName): boolean =>
  name === 'zkwire' || targets.some(({ by }) => 'contestant' in by && by.contestant === name)

const showBigInts = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

const DEADLINE = 120_000

async function main(options: Options): Promise<void> {
  await using server = await startApacheZooKeeper({
    config: { tickTime: 2000, maxSessionTimeout: 60_000 },
    jvm: ['-Xmx1g', '-XX:TieredStopAtLevel=4', '-Dzookeeper.forceSync=no'],
  })
  await using bench = await Bench.ready(options, server.port)
  const samples = new Map(options.workloads.map(({ name }) => [name, new Map<ContestantName, Sample[]>()]))
  for (let round = 0; round < options.rounds; round++) {
    for (const workload of options.workloads) {
      const all = workload.by.filter(
        name => options.contestants.includes(name) && (round < options.peerRounds || isJudged(workload, name)),
      )
      // Nobody is always the first, or always behind the same one.
      const turns = all.map((_, turn) => all[(turn + round) % all.length] as ContestantName)
      const measure = async (contestant: ContestantName) => {
        process.stderr.write(`\r\x1b[Kround ${round + 1} of ${options.rounds}: ${workload.name}, ${contestant}`)
        const sample = await bench.measure(workload, contestant)
        const byContestant = samples.get(workload.name)
        byContestant?.set(contestant, [...(byContestant.get(contestant) ?? []), sample])
      }
      // Memory takes long, since a process has to be idle for it, and does not depend on who else is at work.
      if (workload.measure.is === 'memory') await Promise.all(turns.map(measure))
      else for (const contestant of turns) await measure(contestant)
    }
  }
  process.stderr.write('\r\x1b[K')
  const verdicts = verdictsOf(options.workloads, samples)
  const machine = thisMachine()
  await mkdir(new URL('.', options.json), { recursive: true })
  const raw = [...samples].map(([workload, by]) => ({ workload, ...Object.fromEntries(by) }))
  await writeFile(options.json, JSON.stringify({ machine, date: new Date(), verdicts, samples: raw }, undefined, 1))
  process.stdout.write(`
zkwire throughput, ${options.rounds} rounds; Node ${machine.node} on ${machine.cpu}, ${machine.cores} cores

${tableOf(options.workloads, samples)}

${verdictTableOf(verdicts)}
`)
}

const options = asked('npm run bench:throughput', parseOptions)
if (options === 'help') process.stdout.write(help)
else await main(options)
