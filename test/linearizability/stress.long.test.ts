// All locks under all faults that can happen between sessions and one server. The rules compare the
// recorded events with the server's transaction log.
import { expect } from 'chai'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { seed } from '../support/seeded-random.ts'
import { attemptsIn, isGrant } from './history.ts'
import { lockKinds } from './lock-kinds.ts'
import { stress } from './stress.ts'

describe(`locks under faults on one server (SEED=${seed})`, () => {
  let server: ApacheZooKeeper

  before(async () => {
    server = await startApacheZooKeeper({
      config: { tickTime: 200, minSessionTimeout: 400 },
      // Empty directories are deleted soon, so that their sequence numbers often start at 0 again.
      jvm: ['-Dznode.container.checkIntervalMs=200'],
    })
  })
  after(() => server.close())

  it('break no rule and leave no watch on the server', async function () {
    this.timeout(60_000)
    const { violations, evidence, leftWatches } = await stress(server, { seed, locks: lockKinds })
    expect(violations).to.deep.equal([])
    expect(leftWatches, 'watches left on the server').to.equal(0)
    const granted = attemptsIn(evidence.events).filter(isGrant)
    expect(new Set(granted.map(({ lock }) => lock)).size, 'locks that were held at least once').to.equal(lockKinds.size)
  })
})
