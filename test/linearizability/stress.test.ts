// Every lock, under everything that can go wrong between sessions and one server, judged by the server's own log.
import { expect } from 'chai'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { attemptsIn, isGrant } from './history.ts'
import { lockKinds } from './lock-kinds.ts'
import { stress } from './stress.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fff_ffff))

describe(`a history of locks under faults (SEED=${seed})`, () => {
  let server: ApacheZooKeeper

  before(async () => {
    server = await startApacheZooKeeper({
      config: { tickTime: 200, minSessionTimeout: 400 },
      // Empty directories go at once, so that their numbers begin anew again and again.
      jvm: ['-Dznode.container.checkIntervalMs=200'],
    })
  })
  after(() => server.close())

  it('shows no violation of what a lock promises', async function () {
    this.timeout(60_000)
    const { violations, evidence, leftWatches } = await stress(server, { seed, locks: lockKinds })
    expect(violations).to.deep.equal([])
    expect(leftWatches, 'watches left behind').to.equal(0)
    const granted = attemptsIn(evidence.events).filter(isGrant)
    expect(new Set(granted.map(({ lock }) => lock)).size, 'locks that were held at all').to.equal(lockKinds.size)
  })
})
