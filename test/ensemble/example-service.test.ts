// examples/service on three of Apache's servers: a restart of each, an outage of 20 s, and SIGTERM.
import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ensemble } from '../../environment/ensemble.ts'
import { until } from '../../environment/until.ts'
import { ExampleService } from '../support/example-service.ts'

const BUSY = { within: 60_000 }
/** How long all servers are away, ms: longer than the session timeout. */
const OUTAGE = 20_000

describe('examples/service on three servers of Apache', () => {
  it('survives a restart of each server, an outage of 20 s, and SIGTERM, and shows them in its metrics', async function () {
    this.timeout(180_000)
    const ensemble = await Ensemble.start({ config: { minSessionTimeout: 1000 } })
    const services = await ExampleService.start(3, ensemble.connectString, 6_000)
    const leaders = async () => {
      const leading = await Promise.all(services.map(each => each.metric('service_leading')))
      return services.filter((_, i) => leading[i] === 1)
    }
    const sumOf = async (metric: string) =>
      (await Promise.all(services.map(each => each.metric(metric)))).reduce((sum, each) => sum + each, 0)
    const works = async () => {
      await until(async () => (await leaders()).length === 1, BUSY)
      const [leader] = await leaders()
      const steps = await leader?.metric('service_steps_total')
      await until(async () => Number(await leader?.metric('service_steps_total')) > Number(steps) + 2, BUSY)
      return leader as ExampleService
    }
    try {
      await until(
        async () => (await Promise.all(services.map(each => each.status('/readyz')))).every(status => status === 200),
        BUSY,
      )
      await works()
      await ensemble.rollingRestart(async () => void (await works()))

      const tellsAway = services.map(({ messages }) => messages.filter(each => each === 'ZooKeeper is away').length)
      const outagesBefore = await sumOf('zookeeper_outages_total')
      const secondsBefore = await sumOf('zookeeper_outage_seconds_total')
      for (const server of ensemble.servers) await server.kill()
      const away = sleep(OUTAGE)
      await until(async () => (await leaders()).length === 0, BUSY) // the lease has ended
      expect(await sumOf('zookeeper_connected')).to.equal(0)
      for (const each of services) {
        expect(await each.status('/healthz'), 'Kubernetes does not restart the pod').to.equal(200)
        expect(await each.status('/readyz')).to.equal(503)
      }
      await away
      await Promise.all(ensemble.servers.map(server => server.start()))
      const leader = await works()
      // The output of a process arrives later than its figures.
      const isBack = ({ messages }: ExampleService) =>
        messages.findLast(each => each.includes('ZooKeeper'))?.endsWith('back')
      await until(() => services.every(isBack), BUSY)
      expect(await sumOf('zookeeper_connected')).to.equal(3)
      expect((await sumOf('zookeeper_outages_total')) - outagesBefore).to.be.within(3, 9)
      expect((await sumOf('zookeeper_outage_seconds_total')) - secondsBefore).to.be.within(3 * 20, 3 * 80)
      for (const [i, { log, output, messages }] of services.entries()) {
        const count = messages.filter(each => each === 'ZooKeeper is away').length
        // The last server that is killed may have accepted the session in between.
        expect(count - Number(tellsAway[i])).to.be.within(1, 3)
        expect(log.filter(({ msg }) => msg === 'ZooKeeper is back')).to.have.length(count)
        expect(Math.max(...log.map(({ failures = 0 }) => failures))).to.be.above(3)
        expect(output.length).to.be.below(10_000)
        expect(output).to.not.contain('    at ')
      }

      expect(await leader.end('SIGTERM')).to.equal(0)
      services.splice(services.indexOf(leader), 1)
      await works()
      for (const each of services) expect(await each.end('SIGTERM')).to.equal(0)
    } finally {
      await Promise.all(services.map(each => each.end('SIGTERM')))
      await ensemble.close()
    }
  })
})
