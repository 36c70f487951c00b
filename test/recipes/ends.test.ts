// The ends of recipes: close() resolves when what it removes is gone, whatever was called before it.
import { expect } from 'chai'
import { openACL, type Client } from '../../src/index.ts'
import {
  LeaderElection,
  Membership,
  PersistentEphemeral,
  Queue,
  Services,
  SharedValue,
  type Participant,
} from '../../src/recipes/index.ts'
import { failureOf } from '../support/settled.ts'
import { onBothServers } from './fixture.ts'

onBothServers('the end of a recipe', (fixture, { itInVirtualTime }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/recipe`
  })

  const exists = async (node: string) => (await fixture.observer.exists(node)) !== null

  /** The objects with a node of their own, started, and the path of that node. */
  const started: Record<string, (client: Client) => Promise<[closing: { close(): Promise<void> }, node: string]>> = {
    PersistentEphemeral: async client => {
      const object = new PersistentEphemeral(path)
      await object.start(client)
      return [object, path]
    },
    Membership: async client => {
      const object = new Membership(path, { id: 'a' })
      await object.start(client)
      return [object, `${path}/a`]
    },
    Registration: async client => {
      const services = new Services(path)
      await services.start(client)
      return [await services.register({ name: 'api', id: 'a' }), `${path}/api/a`]
    },
    Services: async client => {
      const services = new Services(path)
      await services.start(client)
      await services.register({ name: 'api', id: 'a' })
      return [services, `${path}/api/a`]
    },
  }

  for (const [name, start] of Object.entries(started)) {
    itInVirtualTime(`waits in a second close() of ${name} too until its node is gone`, async () => {
      const [object, node] = await start(await fixture.openSlow())
      const first = object.close()
      await object.close()
      expect(await exists(node)).to.equal(false)
      await first
    })

    itInVirtualTime(`removes the node of ${name} in another close() if the first was refused`, async () => {
      const [object, node] = await start(await fixture.openSlow())
      const parent = node.slice(0, node.lastIndexOf('/'))
      await fixture.observer.setACL(
        parent,
        openACL.map(each => ({ ...each, perms: each.perms & ~8 })),
      )
      expect(await failureOf(object.close())).to.have.property('code', 'NOAUTH')
      await fixture.observer.setACL(parent, openACL)
      await object.close()
      expect(await exists(node)).to.equal(false)
    })
  }

  for (const [name, start] of [
    ['PersistentEphemeral', () => new PersistentEphemeral(`${path}/a`)],
    ['Membership', () => new Membership(path, { id: 'a' })],
  ] as const)
    itInVirtualTime(`waits in close() of ${name} for the undo of a start() that failed`, async () => {
      const client = await fixture.openSlow()
      await client.ensurePath(path)
      const object = start()
      fixture.embedded.faults.delay('create2', 50)
      fixture.embedded.faults.delay('getData', 50)
      expect(await failureOf(object.start(client, { timeout: 45 }))).to.have.property('code', 'TIMEOUT')
      await object.close()
      expect(await exists(`${path}/a`)).to.equal(false)
      await client.settled()
      expect(await exists(`${path}/a`)).to.equal(false)
    })

  itInVirtualTime('waits in close() of a queue until its watches are gone', async () => {
    const queue = new Queue(await fixture.openSlow(), path)
    expect(await queue.tryTake()).to.equal(null)
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore + 2)
    await queue.close()
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
  })

  itInVirtualTime('waits in a second close() of a watcher until its watch is gone', async () => {
    const client = await fixture.openSlow()
    await client.ensurePath(path)
    const watcher = await client.addWatch(path)
    void watcher.close()
    await watcher.close()
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
  })

  itInVirtualTime('lets take() reject if the session ends while the leader is asked for the item', async () => {
    const asking = await fixture.open({ sessionTimeout: 6000 })
    const queue = new Queue(asking, path)
    await fixture.observer.ensurePath(`${path}/taken`)
    await queue.put('x')
    // The last write of the session is then too old to prove that it will live.
    await fixture.sleep(4500)
    for (const operation of ['sync', 'multi'] as const)
      fixture.embedded.faults.hold(operation, { session: asking.sessionId, times: Infinity })
    const taking = failureOf(queue.take())
    await fixture.sleep(300)
    fixture.embedded.expireSession(asking.sessionId)
    expect(await taking).to.have.property('code', 'SESSIONEXPIRED')
    fixture.embedded.faults.clear()
  })
})

onBothServers('a second loop over changes()', (fixture, { itInVirtualTime }) => {
  itInVirtualTime('of a value begins with what its session has written, whatever the first one reads', async () => {
    const client = await fixture.openSlow()
    for (let wait = 0; wait <= 40; wait += 5) {
      const path = `${fixture.path}/value-${wait}`
      await using value = new SharedValue(client, path, { initial: 'none' })
      const first = value.changes()
      await fixture.sleep(wait)
      await client.create(path, 'blue')
      const second = value.changes()
      expect(String((await second.next()).value?.data), `after ${wait} ms`).to.equal('blue')
      await Promise.all([first.return(), second.return()])
    }
  })

  itInVirtualTime('of an election begins with its own leadership', async () => {
    const client = await fixture.openSlow()
    for (let wait = 0; wait <= 40; wait += 5) {
      await using election = new LeaderElection(client, `${fixture.path}/election-${wait}`, { id: 'me' })
      const first = election.changes()
      await fixture.sleep(wait)
      await using held = await election.campaign()
      const second = election.changes()
      const { value } = await second.next()
      expect((value as Participant | null)?.path, `after ${wait} ms`).to.equal(held.path)
      await Promise.all([first.return(), second.return()])
    }
  })
})
