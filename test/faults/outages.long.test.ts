// Outages of a real server that last longer than the session timeout. test/soak/outages.ts measures them.
import { expect } from 'chai'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { Services } from '../support/services.ts'
import { until } from '../../environment/until.ts'

describe('an outage that is longer than the session timeout', () => {
  it('ends all leases, and then no process waits for a node of its own, because the server has kept the sessions', async () => {
    await using server = await startApacheZooKeeper()
    await using services = await Services.start(server.connectString, '/outage', 3, { sessionTimeout: 2000 })
    const { sessions, closed, leaders, holders } = services
    const lost = [...sessions]
    await server.kill()
    await until(() => [...lost.map(({ ended }) => ended), leaders[0]?.held.signal].every(signal => signal?.aborted))
    expect(holders.map(({ held }) => held.signal.aborted)).to.deep.equal([true])
    await server.start()
    await until(() => leaders.length > 1 && holders.length > 1 && sessions.length === 2 * lost.length)

    for (const { id } of lost) expect(closed).to.include(id)
    for (const terms of [leaders, holders]) {
      expect(terms.map(({ held }) => held.signal.aborted)).to.deep.equal([true, false])
      expect(terms[1]?.held.token).to.satisfy((token: bigint) => token > (terms[0]?.held.token ?? 0n))
    }
  })
})
