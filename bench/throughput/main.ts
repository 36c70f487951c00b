// `npm run bench:throughput`: compares the cost of calls with other clients, each measurement in a separate process.
// See bench/README.md.
// May import: bench/measure/statistics.ts, bench/output, src/index.ts, src/protocol/index.ts, test/support,
// @typescript/typescript6.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { connect, type Client } from '../../src/index.ts'
import { startApacheZooKeeper } from '../../test/support/apache-zookeeper.ts'
import { thisMachine } from '../output/result.ts'
import { parseOrExit } from '../output/usage.ts'
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
  paths,
  type SubjectName,
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
  readonly #proxy: ChildProcess
  readonly #curator: Curator | undefined
  #directories = 0

  private constructor(
    options: Options,
    program: string,
    client: Client,
    ports: Record<Workload['on'], number>,
    mock: ChildProcess,
    proxy: ChildProcess,
    curator: Curator | undefined,
  ) {
    this.#options = options
    this.#program = program
    this.#client = client
    this.#ports = ports
    this.#mock = mock
    this.#proxy = proxy
    this.#curator = curator
  }

  static async ready(options: Options, serverPort: number): Promise<Bench> {
    const program = await buildChild()
    const wanted = new Set(options.workloads.flatMap(({ by }) => by.filter(name => options.subjects.includes(name))))
    if (wanted.has('node-zookeeper-client') || wanted.has('zookeeper')) await installPeers()
    const curator = wanted.has('curator') ? await Curator.ready() : undefined
    const client = await connect(`127.0.0.1:${serverPort}`, { sessionTimeout: 60_000 })
    await client.ensurePath(paths.data)
    await client.setData(paths.data, Buffer.alloc(DATA_BYTES, 'x'))
    await client.ensurePath(paths.watched)
    await client.ensurePath(paths.list)
    await Promise.all(Array.from({ length: NAMES }, (_, i) => client.create(`${paths.list}/${nameOf(i)}`)))
    const [mock, proxy] = await Promise.all([helper('mock.ts'), helper('remote.ts', String(serverPort))])
    const ports = { server: serverPort, mock: mock.port, remote: proxy.port }
    return new Bench(options, program, client, ports, mock.process, proxy.process, curator)
  }

  async measure({ measure, on }: Workload, subject: SubjectName): Promise<Sample> {
    const directory = `/zkwire-throughput/${this.#directories++}`
    await this.#client.create(directory)
    const port = this.#ports[on]
    const sample =
      subject === 'curator' && measure.is === 'handOver'
        ? this.#curator?.handOver(port, directory, measure)
        : this.#fork({
            ...{ subject, measure, port, directory, dist, peers: peersFrom },
            warmUp: this.#options.warmUp,
            span: this.#options.span,
          })
    const result = await sample
    if (result === undefined) throw new Error(`${subject} was not set up`)
    if (measure.is === 'steady' && measure.op === 'createAndDelete')
      await this.#checkCounts(directory, result, measure.inFlight)
    await this.#client.deleteRecursive(directory)
    return result
  }

  /**
   * Compares the count of operations with the server's node, because a subject may count replies without reading them.
   */
  async #checkCounts(directory: string, { operations }: Sample, inFlight: number): Promise<void> {
    const stat = await this.#client.exists(directory)
    if (stat === null || stat.numChildren > inFlight || stat.cversion < operations)
      throw new Error(
        `${operations} creates and deletes were counted, but the server's node shows ${JSON.stringify(stat, showBigInts)}`,
      )
  }

  async #fork(task: Task): Promise<Sample> {
    const child = fork(this.#program, { execArgv: ['--expose-gc', ...this.#options.execArgv] })
    const exit = once(child, 'exit').then(([code, signal]) => {
      throw new Error(
        `${task.subject} exited with ${code ?? signal} during its measurement: ${JSON.stringify(task.measure)}`,
      )
    })
    const sample = new Promise<Sample>(resolve => {
      child.on('message', (message: 'change' | 'now' | Sample) => {
        if (message === 'change') child.send('ready')
        else if (message === 'now') void this.#client.setData(paths.watched, '')
        else resolve(message)
      })
    })
    child.send(task)
    const deadline = setTimeout(() => child.kill('SIGKILL'), DEADLINE)
    try {
      return await Promise.race([sample, exit])
    } finally {
      clearTimeout(deadline)
      // Wait for the exit, so that the processes do not overlap.
      await exit.catch(() => undefined)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#mock.kill()
    this.#proxy.kill()
    await this.#client.close()
  }
}

/** Starts a process that listens on a port and sends its number. */
async function helper(file: string, ...args: string[]): Promise<{ process: ChildProcess; port: number }> {
  const process = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv: ['--import', 'tsx'] })
  const [{ port }] = (await once(process, 'message')) as [{ port: number }]
  return { process, port }
}

/** True if a target's ratio needs this subject. */
const isNeededByTarget = ({ targets }: Workload, name: SubjectName): boolean =>
  name === 'zkwire' || targets.some(({ by }) => 'subject' in by && by.subject === name)

const showBigInts = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

/** The time limit of one measurement, ms. */
const DEADLINE = 120_000

async function main(options: Options): Promise<void> {
  await using server = await startApacheZooKeeper({
    config: { tickTime: 2000, maxSessionTimeout: 60_000 },
    jvm: ['-Xmx1g', '-XX:TieredStopAtLevel=4', '-Dzookeeper.forceSync=no'],
  })
  await using bench = await Bench.ready(options, server.port)
  const samples = new Map(options.workloads.map(({ name }) => [name, new Map<SubjectName, Sample[]>()]))
  for (let round = 0; round < options.rounds; round++) {
    for (const workload of options.workloads) {
      const all = workload.by.filter(
        name => options.subjects.includes(name) && (round < options.peerRounds || isNeededByTarget(workload, name)),
      )
      // Rotate the order, so that no subject is always measured first.
      const turns = all.map((_, turn) => all[(turn + round) % all.length] as SubjectName)
      const measure = async (subject: SubjectName) => {
        process.stderr.write(`\r\x1b[Kround ${round + 1} of ${options.rounds}: ${workload.name}, ${subject}`)
        const sample = await bench.measure(workload, subject)
        const bySubject = samples.get(workload.name)
        bySubject?.set(subject, [...(bySubject.get(subject) ?? []), sample])
      }
      // Memory is measured in parallel. It takes long, because each process must be idle for a while, and other
      // processes do not affect the figure.
      if (workload.measure.is === 'memory') await Promise.all(turns.map(measure))
      else for (const subject of turns) await measure(subject)
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

const options = parseOrExit('npm run bench:throughput', parseOptions)
if (options === 'help') process.stdout.write(help)
else await main(options)
