// examples/web and examples/nest on three of Apache's servers: a rolling restart, a kill, a stop, an outage, and SIGTERM
// under load.
import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ensemble } from '../../environment/ensemble.ts'
import { until } from '../../environment/until.ts'
import { connect } from '../../src/index.ts'
import type { ServiceProcess } from '../support/service-process.ts'
import { compileWebExample, startWebExample, type ExampleName } from '../support/web-example.ts'

const BUSY = { within: 90_000 }
/** Long enough for an election on a busy machine: neither a lock nor a request may fail by it. */
const LONG = { sessionTimeout: 30_000, timeout: 90_000 }
const SHORT = { sessionTimeout: 4_000, timeout: 3_000 }

interface Answer {
  readonly service: ServiceProcess
  readonly order: string
  /** 0 if there was none. */
  readonly status: number
  readonly charged: string | undefined
}

async function charge(service: ServiceProcess, order: string): Promise<Answer> {
  try {
    const response = await service.request(`/orders/${order}/charge`, 'POST')
    const { charged } = (await response.json()) as { charged?: string }
    return { service, order, status: response.status, charged }
  } catch {
    return { service, order, status: 0, charged: undefined }
  }
}

/** Requests without a pause, always three for one order, of three services. */
class Load {
  readonly answers: Answer[] = []
  #count = 0
  #hasEnded = false
  readonly #workers: Promise<unknown>

  constructor(prefix: string, services: readonly ServiceProcess[]) {
    const work = async () => {
      while (!this.#hasEnded) {
        const n = this.#count++
        const service = services[n % services.length] as ServiceProcess
        this.answers.push(await charge(service, `${prefix}-${Math.floor(n / 3)}`))
        await sleep(5)
      }
    }
    this.#workers = Promise.all(Array.from({ length: 9 }, work))
  }

  /** Resolves after `count` more answers. */
  async goOn(count = 60): Promise<void> {
    const goal = this.answers.length + count
    await until(() => this.answers.length >= goal, BUSY)
  }

  async end(): Promise<readonly Answer[]> {
    this.#hasEnded = true
    await this.#workers
    return this.answers
  }
}

/** Each order is charged once, or not known to be charged if its answer was lost. */
function expectChargedOnce(answers: readonly Answer[]): void {
  const times = new Map<string, number>()
  for (const { order, charged } of answers) if (charged === 'now') times.set(order, (times.get(order) ?? 0) + 1)
  expect([...times].filter(([, count]) => count > 1)).to.deep.equal([])
  expect(times.size).to.be.above(5)
}

const statuses = (answers: readonly Answer[]) => [...new Set(answers.map(({ status }) => status))]

for (const name of ['web', 'nest'] satisfies ExampleName[])
  describe(`examples/${name} on three servers of Apache`, function () {
    this.timeout(240_000)
    let folder: string
    let ensemble: Ensemble
    let services: ServiceProcess[]

    before(async () => {
      folder = await compileWebExample(name)
      ensemble = await Ensemble.start({ config: { minSessionTimeout: 1000, maxSessionTimeout: 40_000 } })
    })
    after(() => ensemble.close())
    beforeEach(() => (services = []))
    afterEach(async () => {
      for (const each of services) {
        each.kill('SIGCONT')
        await each.end('SIGKILL')
      }
    })

    const start = async (limits: typeof LONG) => {
      services = await startWebExample(folder, 3, ensemble.connectString, limits)
      for (const each of services) await until(async () => (await each.status('/readyz')) === 200, BUSY)
    }

    it('fails no request during a rolling restart of the servers', async () => {
      await start(LONG)
      const load = new Load('restart', services)
      await load.goOn()
      await ensemble.rollingRestart(() => load.goOn())
      const answers = await load.end()
      expect(statuses(answers)).to.deep.equal([200])
      expectChargedOnce(answers)
    })

    it('goes on in the other instances if one is killed', async () => {
      await start(SHORT)
      const [killed, ...others] = services as [ServiceProcess, ServiceProcess, ServiceProcess]
      const load = new Load('kill', services)
      await load.goOn()
      await killed.end('SIGKILL')
      await load.goOn()
      const answers = await load.end()
      expect(statuses(answers.filter(({ service }) => service !== killed))).to.not.include(0)
      expectChargedOnce(answers)
      for (const { order } of answers.slice(-3))
        await until(async () => (await charge(others[0], order)).status === 200, BUSY)
    })

    it('serves the first request after it was stopped for 20 s', async () => {
      await start(SHORT)
      const [stopped, other] = services as [ServiceProcess, ServiceProcess]
      expect(await charge(stopped, 'before-the-stop')).to.include({ status: 200, charged: 'now' })
      stopped.kill('SIGSTOP')
      await sleep(20_000)
      expect(await charge(other, 'before-the-stop')).to.include({ status: 200, charged: 'before' })
      stopped.kill('SIGCONT')
      expect(await charge(stopped, 'after-the-stop')).to.include({ status: 200, charged: 'now' })
      expect(await charge(stopped, 'before-the-stop')).to.include({ status: 200, charged: 'before' })
    })

    it('answers each request with an error while a majority of the servers is away, and then goes on', async () => {
      await start(SHORT)
      const load = new Load('outage', services)
      await load.goOn()
      const [first, second] = ensemble.servers
      await Promise.all([first?.kill(), second?.kill()])
      for (const each of services) {
        await until(async () => (await each.status('/readyz')) === 503, BUSY)
        expect(await each.status('/healthz')).to.equal(200)
      }
      // No request hangs: each of them is answered.
      await load.goOn(27)
      await Promise.all([first?.start(), second?.start()])
      for (const each of services) await until(async () => (await each.status('/readyz')) === 200, BUSY)
      await until(async () => (await charge(services[0] as ServiceProcess, 'after-the-outage')).status === 200, BUSY)
      const answers = await load.end()
      expect(statuses(answers)).to.include(503)
      for (const status of statuses(answers)) expect(status).to.be.oneOf([200, 503])
      expectChargedOnce(answers)
    })

    it('answers the requests in hand at SIGTERM, releases their locks, and ends', async () => {
      await start(LONG)
      const [ended] = services as [ServiceProcess]
      const load = new Load('end', services)
      await load.goOn()
      expect(await ended.end('SIGTERM'), ended.output).to.equal(0)
      await load.goOn()
      const answers = await load.end()
      // 0: a connection that the process has not accepted any more, which a load balancer sends to another instance.
      expect(statuses(answers.filter(({ service }) => service === ended))).to.have.members([200, 0])
      expect(statuses(answers.filter(({ service }) => service !== ended))).to.deep.equal([200])
      expectChargedOnce(answers)
      await using zk = await connect(ensemble.connectString)
      const { children } = await zk.getChildren('/locks')
      const left = await Promise.all(children.map(each => zk.getAllChildrenNumber(`/locks/${each}`).catch(() => 0)))
      expect(left.filter(count => count > 0)).to.deep.equal([])
    })
  })
