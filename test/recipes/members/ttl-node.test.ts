import { expect } from 'chai'
import { PersistentEphemeral } from '../../../src/recipes/index.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

describe('A PersistentEphemeral with a TTL', () => {
  it('stays while its process is there, without an event for its watchers, and is deleted when it is killed', async () => {
    await using virtual = await VirtualServer.start({ extendedTypes: true, containerCheckInterval: 100 })
    const run = async () => {
      const observer = await virtual.connect()
      const client = await virtual.connect()
      const start = () => new PersistentEphemeral('/a', { mode: 'persistentTTL', ttl: 1000, data: 'x' }).start(client)
      await start()
      const events: string[] = []
      await observer.getData('/a', { watch: ({ type }) => events.push(type) })
      await virtual.sleep(10_000)
      expect(String((await observer.getData('/a')).data)).to.equal('x')
      expect(events).to.deep.equal([])
      await client.close()
      await virtual.sleep(5000)
      expect(await observer.exists('/a')).to.equal(null)
      expect(events).to.deep.equal(['NodeDeleted'])
      const next = await virtual.connect()
      const node = new PersistentEphemeral('/a', { mode: 'persistentTTL', ttl: 1000 })
      await node.start(next)
      await virtual.sleep(3000)
      await node.close()
      expect(await observer.exists('/a')).to.equal(null)
    }
    await virtual.until(run())
  })

  it('that another object of the session keeps too keeps its child until both are closed', async () => {
    await using virtual = await VirtualServer.start({ extendedTypes: true })
    const client = await virtual.open()
    const newNode = () => new PersistentEphemeral('/a', { mode: 'persistentTTL', ttl: 1000 })
    const [one, two] = [newNode(), newNode()]
    await virtual.until(Promise.all([one.start(client), two.start(client)]))
    await virtual.clock.advance(600)
    await virtual.until(one.close())
    expect([...virtual.server.snapshot().nodes.keys()]).to.include.members(['/a', '/a/touch'])
    await virtual.until(two.close())
    expect([...virtual.server.snapshot().nodes.keys()]).not.to.include('/a')
  })
})
