// `npm run bench -- restart`: restarts three servers one after the other under services of zkwire, kazoo and Curator, and
// measures how long each service is without a leader. See bench/README.md.
// May import: src/index.ts, src/recipes/index.ts, environment.
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect, type Client } from '../../src/index.ts'
import { CURATOR_JARS, provideCurator, provideKazoo } from '../../environment/other-libraries.ts'
import { PYTHON } from '../../environment/needs.ts'
import { Ensemble } from '../../environment/ensemble.ts'
import { JavaProgram } from '../../environment/java-program.ts'
import { SubprocessRpc } from '../../environment/subprocess-rpc.ts'
import { until } from '../../environment/until.ts'
import { figuresOf, INSTANCES, type Event } from './figures.ts'

const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '50' },
    timeout: { type: 'string', default: '10000' },
    pause: { type: 'string', default: '5000' },
    libraries: { type: 'string', default: 'zkwire,curator,kazoo' },
  },
})
const services = Number(values.services)
const PATIENCE = { within: 120_000 }

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const starts: Record<string, (args: readonly string[]) => Promise<SubprocessRpc>> = {
  zkwire: args =>
    Promise.resolve(new SubprocessRpc(process.execPath, ['--import', 'tsx', pathOf('services.ts'), ...args])),
  kazoo: async args => {
    await provideKazoo()
    return new SubprocessRpc(PYTHON, [pathOf('KazooServices.py'), ...args])
  },
  curator: async args => {
    await provideCurator()
    return JavaProgram.start(new URL('CuratorServices.java', import.meta.url), { jars: CURATOR_JARS, args })
  },
}

/** The services of one library, in a process of their own. */
class Library {
  readonly name: string
  readonly events: Event[] = []
  readonly #process: SubprocessRpc
  readonly #admin: Client

  constructor(name: string, process: SubprocessRpc, admin: Client) {
    this.name = name
    this.#process = process
    this.#admin = admin
  }

  static async start(name: string, servers: string, admin: Client): Promise<Library> {
    const start = starts[name]
    if (start === undefined) throw new Error(`unknown library: ${name}`)
    const paths = Array.from({ length: services }, (_, service) => `/${name}/${service}/configuration`)
    await Promise.all(paths.map(path => admin.ensurePath(path)))
    return new Library(name, await start([servers, `/${name}`, values.services, values.timeout]), admin)
  }

  /** Changes all configurations, and waits until each instance has read the change and each service has a leader. */
  async settle(configuration: string): Promise<void> {
    const write = (_: unknown, service: number) =>
      this.#admin.retry(() => this.#admin.setData(`/${this.name}/${service}/configuration`, configuration))
    await Promise.all(Array.from({ length: services }, write))
    await until(async () => {
      await this.#read()
      const last = new Map<string, string>()
      const held = new Set<string>()
      for (const [, service, instance, kind, value] of this.events) {
        if (kind === 'reads') last.set(`${service} ${instance}`, value)
        if (kind === 'leads' || kind === 'locks') held.add(`${service} ${instance} ${kind}`)
        if (kind === 'stops' || kind === 'unlocks')
          held.delete(`${service} ${instance} ${kind === 'stops' ? 'leads' : 'locks'}`)
      }
      const isRead = [...last.values()].filter(value => value === configuration).length === services * INSTANCES
      return isRead && held.size === 2 * services
    }, PATIENCE)
  }

  /** Makes the leaders and holders give up, and waits until the others have taken over. */
  async handOver(): Promise<void> {
    await this.#process.request('release')
    await until(async () => {
      await this.#read()
      const terms = this.events.filter(([, , , kind]) => kind === 'leads' || kind === 'locks')
      const holders = new Set(terms.map(([, service, instance, kind]) => `${service} ${instance} ${kind}`))
      return holders.size === 2 * services * INSTANCES
    }, PATIENCE)
  }

  close(): Promise<void> {
    return this.#process.close()
  }

  async #read(): Promise<void> {
    this.events.push(...(JSON.parse(await this.#process.request('events')) as Event[]))
    await delay(50)
  }
}

await using ensemble = await Ensemble.start({ config: { tickTime: 1000 } })
await using admin = await connect(ensemble.connectString)
const libraries: Library[] = []
for (const name of values.libraries.split(',')) libraries.push(await Library.start(name, ensemble.connectString, admin))
for (const library of libraries) await library.settle('first')
const from = Date.now()
await ensemble.rollingRestart(() => delay(Number(values.pause)))
const to = Date.now()
const rows: Record<string, object> = {}
for (const library of libraries) {
  await library.settle('last')
  rows[library.name] = figuresOf(library.events, services, { from, to })
}
for (const library of libraries) await library.handOver()
console.log(`${services} services with ${INSTANCES} instances each; session timeout ${values.timeout} ms; times in ms`)
console.table(rows)
await Promise.all(libraries.map(library => library.close()))
