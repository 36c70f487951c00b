// Services with a leader, a lock and a watched configuration each, while the servers of an ensemble are restarted.
// test/soak/outages.ts measures how long they take.
import { expect } from 'chai'
import { connect } from '../../src/index.ts'
import { ensembles } from '../support/embedded-ensemble.ts'
import type { RunningEnsemble } from '../../environment/running-ensemble.ts'
import { Services } from '../support/services.ts'
import { until } from '../../environment/until.ts'

/** On a busy machine a step takes long. */
const BUSY = { within: 60_000 }

for (const { name, start } of ensembles)
  describe(`services on three servers (${name})`, () => {
    let ensemble: RunningEnsemble

    before(async function () {
      this.timeout(120_000)
      ensemble = await start({ config: { minSessionTimeout: 1000 } })
    })
    after(() => ensemble.close())

    it('keep their sessions, leaders, locks and watches through a rolling restart', async function () {
      this.timeout(120_000)
      const GROUPS = 5
      const COUNT = 2
      const groups = await Promise.all(
        Array.from({ length: GROUPS }, (_, i) =>
          Services.start(ensemble.connectString, `/rolling-${i}`, COUNT, { sessionTimeout: 8000 }),
        ),
      )
      await using admin = await connect(ensemble.connectString)
      let version = 0
      const change = async () => {
        version++
        const write = (_: Services, i: number) =>
          admin.retry(() => admin.setData(`/rolling-${i}-configuration`, `${version}`))
        await Promise.all(groups.map(write))
        await until(() => groups.every(({ configurations }) => configurations.every(each => each === `${version}`)))
      }
      await ensemble.rollingRestart(change)

      for (const { sessions, leaders, holders } of groups) {
        expect(sessions.map(({ ended }) => ended.aborted)).to.deep.equal([false, false])
        expect(leaders.map(({ held }) => held.signal.aborted)).to.deep.equal([false])
        expect(holders.map(({ held }) => held.signal.aborted)).to.deep.equal([false])
      }
      // The next in each queue still waits for its turn.
      const held = groups.flatMap(({ leaders, holders }) => [...leaders, ...holders])
      await Promise.all(held.map(({ held }) => held.release()))
      await until(() => groups.every(({ leaders, holders }) => leaders.length === 2 && holders.length === 2))
      await Promise.all(groups.map(services => services.close()))
    })

    it('wait for no node of their own after an outage that is longer than the session timeout', async function () {
      this.timeout(120_000)
      const { servers, connectString } = ensemble
      await using services = await Services.start(connectString, '/outage', 3, { sessionTimeout: 2000 })
      const { sessions, closed, leaders, holders } = services
      const lost = [...sessions]
      await Promise.all(servers.map(server => server.kill()))
      await until(
        () => lost.every(({ ended }) => ended.aborted) && holders.every(({ held }) => held.signal.aborted),
        BUSY,
      )
      await Promise.all(servers.map(server => server.start()))
      await until(() => leaders.length > 1 && holders.length > 1 && sessions.length === 2 * lost.length, BUSY)
      for (const { id } of lost) expect(closed).to.include(id)
      for (const terms of [leaders, holders])
        expect(terms.map(({ held }) => held.signal.aborted)).to.deep.equal([true, false])
    })
  })
