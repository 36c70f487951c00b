import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { PersistentEphemeral } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

describe('A PersistentEphemeral with a TTL', () => {
  it('stays while its process is there, without an event for its watchers, and is deleted when it is killed', async () => {
    const clock = new VirtualClock()
    const server = await Server.start({ listen: false, clock, extendedTypes: true, containerCheckInterval: 100 })
    const options = { dial: server.dial, clock }
    const sleep = (ms: number) => new Promise<void>(resolve => void clock.setTimeout(resolve, ms))
    const run = async () => {
      await using observer = await connect(server.connectString, options)
      const client = await connect(server.connectString, options)
      const start = () => new PersistentEphemeral('/a', { mode: 'persistentTTL', ttl: 1000, data: 'x' }).start(client)
      await start()
      const events: string[] = []
      await observer.getData('/a', { watch: ({ type }) => events.push(type) })
      await sleep(10_000)
      expect(String((await observer.getData('/a')).data)).to.equal('x')
      expect(events).to.deep.equal([])
      await client.close()
      await sleep(5000)
      expect(await observer.exists('/a')).to.equal(null)
      expect(events).to.deep.equal(['NodeDeleted'])
      await using next = await connect(server.connectString, options)
      const node = new PersistentEphemeral('/a', { mode: 'persistentTTL', ttl: 1000 })
      await node.start(next)
      await sleep(3000)
      await node.close()
      expect(await observer.exists('/a')).to.equal(null)
    }
    await clock.until(run())
    await server.close()
    expect(clock.pendingTimers).to.equal(0)
  })
})
