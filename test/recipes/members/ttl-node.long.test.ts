// A node with a TTL on Apache's server, in real time.
import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { PersistentEphemeral } from '../../../src/recipes/index.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { startApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { until } from '../../../environment/until.ts'

describe('A PersistentEphemeral with a TTL', () => {
  it('outlives its TTL on Apache ZooKeeper, and is deleted when its process is gone', async function () {
    this.timeout(60_000)
    const jvm = ['-Dzookeeper.extendedTypesEnabled=true', '-Dznode.container.checkIntervalMs=100']
    await using apache = await startApacheZooKeeper({ jvm })
    await using observer = await connect(apache.connectString)
    await using client = await connect(apache.connectString)
    const untilOnServer = (condition: () => Promise<boolean>) => until(condition, { clock: systemClock })
    const ttl = 3000
    await new PersistentEphemeral('/a', { mode: 'persistentTTL', ttl, data: 'x' }).start(client)
    const events: string[] = []
    const { data, stat } = await observer.getData('/a', { watch: ({ type }) => events.push(type) })
    expect(String(data)).to.equal('x')
    // By the server's clock, the node has lived longer than its TTL.
    await untilOnServer(async () => ((await observer.exists('/a/touch'))?.mtime ?? 0) - stat.mtime > ttl)
    expect(await observer.exists('/a')).to.include({ czxid: stat.czxid, mzxid: stat.mzxid })
    expect(events).to.deep.equal([])
    await client.close()
    await untilOnServer(async () => (await observer.exists('/a')) === null)
    expect(events).to.deep.equal(['NodeDeleted'])
  })
})
