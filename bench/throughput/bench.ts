// The servers and processes of a run: the nodes on Apache's server, the mock, the proxy, and a process for each
// measurement.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { connect, type Client } from '../../src/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { MeasuringProcess, startHelper, type Helper } from '../processes/measuring-process.ts'
import type { Rounds } from '../processes/options.ts'
import { bundled } from '../processes/program.ts'
import type { Sample, Turns } from '../processes/turns.ts'
import { openCurator } from './curator.ts'
import { DATA_BYTES, isInTurns, nameOf, NAMES, paths, type SubjectName, type Task, type Workload } from './workloads.ts'
import { installTools } from '../../environment/installed-tools.ts'
import { nodeClients } from '../../environment/needs.ts'

export interface Setup extends Omit<Rounds<Workload>, 'rounds'> {
  subjects: readonly SubjectName[]
  /** The folder of the built client that the subject `before` measures. */
  before?: URL | undefined
}

const dist = new URL('../../dist', import.meta.url)
/** The file URL from which the other Node clients can be required. They are installed when they are first needed. */
const peersFrom = pathToFileURL(join(nodeClients.directory, 'package.json')).href

/** Starts the Apache server of a run. Its log is in memory. */
export const startServer = () =>
  startApacheZooKeeper({
    config: { tickTime: 2000, maxSessionTimeout: 60_000 },
    jvm: ['-Xmx1g', '-XX:TieredStopAtLevel=4', '-Dzookeeper.forceSync=no'],
  })

const lockIn = ({ directory }: Task): string => `${directory}/lock`

export class Bench implements AsyncDisposable {
  readonly #setup: Setup
  readonly #program: string
  readonly #client: Client
  readonly #server: ApacheZooKeeper
  readonly #ports: Record<Workload['on'], number>
  readonly #helpers: readonly Helper[]
  #directories = 0

  private constructor(
    setup: Setup,
    program: string,
    client: Client,
    server: ApacheZooKeeper,
    ports: Record<Workload['on'], number>,
    helpers: readonly Helper[],
  ) {
    this.#setup = setup
    this.#program = program
    this.#client = client
    this.#server = server
    this.#ports = ports
    this.#helpers = helpers
  }

  static async ready(setup: Setup, server: ApacheZooKeeper): Promise<Bench> {
    const serverPort = server.port
    const program = await bundled(new URL('child/main.ts', import.meta.url))
    const wanted = new Set(setup.workloads.flatMap(({ by }) => by.filter(name => setup.subjects.includes(name))))
    if (wanted.has('node-zookeeper-client') || wanted.has('zookeeper')) await installTools(nodeClients)
    const client = await connect(`127.0.0.1:${serverPort}`, { sessionTimeout: 60_000 })
    await client.ensurePath(paths.data)
    await client.setData(paths.data, Buffer.alloc(DATA_BYTES, 'x'))
    await client.ensurePath(paths.watched)
    await client.ensurePath(paths.list)
    await Promise.all(Array.from({ length: NAMES }, (_, i) => client.create(`${paths.list}/${nameOf(i)}`)))
    const start = (file: string, ...args: string[]) => startHelper(new URL(file, import.meta.url), ...args)
    const [mock, proxy] = await Promise.all([start('mock.ts'), start('remote.ts', String(serverPort))])
    const ports = { server: serverPort, mock: mock.port, remote: proxy.port }
    return new Bench(setup, program, client, server, ports, [mock, proxy])
  }

  /** Starts a process that measures a subject, and warms it up. */
  async open(workload: Workload, subject: SubjectName): Promise<Turns> {
    const { measure, on } = workload
    if (on === 'mock') return this.#openProcess(this.#task(workload, subject, paths.mock))
    const task = this.#task(workload, subject, `/zkwire-throughput/${this.#directories++}`)
    // The locks that are written by hand need theirs.
    await this.#client.ensurePath(measure.is === 'handOver' ? lockIn(task) : task.directory)
    const process = await (subject === 'curator' && measure.is === 'handOver'
      ? openCurator(task.port, lockIn(task), measure)
      : this.#openProcess(task))
    return {
      measure: async () => {
        const before = this.#serverCpu
        const sample = await process.measure()
        const server = this.#serverCpu - before
        if (measure.is === 'steady' && measure.op === 'createAndDelete')
          await this.#checkCounts(task.directory, sample, measure.inFlight)
        return isInTurns(workload) ? { ...sample, server } : sample
      },
      end: async () => {
        await process.end()
        await this.#client.deleteRecursive(task.directory)
      },
    }
  }

  /** The processor time of the server so far, microseconds. */
  get #serverCpu(): number {
    return (this.#server.cpuSeconds() ?? NaN) * 1e6
  }

  #task({ measure, on }: Workload, subject: SubjectName, directory: string): Task {
    const { warmUp, span, before = dist } = this.#setup
    const built = subject === 'before' ? before : dist
    return { subject, measure, port: this.#ports[on], directory, warmUp, span, dist: built.href, peers: peersFrom }
  }

  #openProcess(task: Task): Promise<Turns> {
    const about = `${task.subject}: ${JSON.stringify(task.measure)}`
    const { execArgv } = this.#setup
    return MeasuringProcess.open<'change' | 'now'>(this.#program, task, { about, execArgv }, message => {
      // The process asks for a change of the watched node, and says when it is ready to be notified.
      if (message === 'change') return send => send('ready')
      return message === 'now' ? () => void this.#client.setData(paths.watched, '') : undefined
    })
  }

  /**
   * Compares the count of operations with the server's node, because a subject may count replies without reading them.
   */
  async #checkCounts(directory: string, { operations }: Sample, inFlight: number): Promise<void> {
    const stat = await this.#client.exists(directory)
    if (stat === null || stat.numChildren > inFlight || stat.cversion < operations)
      throw new Error(
        `${operations} creates and deletes were counted, but the server's node shows ${JSON.stringify(stat)}`,
      )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#helpers.map(helper => helper.end()))
    await this.#client.close()
  }
}
