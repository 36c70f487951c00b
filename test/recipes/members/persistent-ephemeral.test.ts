import { expect } from 'chai'
import { supervise, ZooKeeperError, type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { PersistentEphemeral } from '../../../src/recipes/index.ts'
import { abortOf, failureOf, outcomeOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('PersistentEphemeral', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/above/node`
  })

  const ownerOf = async () => (await fixture.observer.exists(path))?.ephemeralOwner
  const dataOf = async () => (await fixture.observer.getData(path)).data?.toString()

  itEverywhere('creates the node with its data and its missing parents, and deletes it at close()', async () => {
    const client = await fixture.open()
    const node = new PersistentEphemeral(path, { data: 'here' })
    await node.start(client)
    expect(await ownerOf()).to.equal(client.sessionId)
    expect(await dataOf()).to.equal('here')
    await node.close()
    expect(await ownerOf()).to.equal(undefined)
    await node.close()
  })

  itEverywhere('creates the node again after each deletion', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral(path, { data: 'here' })
    await node.start(client)
    for (let i = 0; i < 3; i++) {
      const before = (await fixture.observer.exists(path))?.czxid
      await fixture.observer.delete(path)
      await fixture.until(async () => {
        const stat = await fixture.observer.exists(path)
        return stat !== null && stat.czxid !== before
      })
    }
    expect(await dataOf()).to.equal('here')
  })

  for (const [what, attack] of Object.entries({
    deletions: () => fixture.observer.delete(path),
    writes: () => fixture.observer.setData(path, 'foreign'),
  }))
    itInVirtualTime(`pauses up to a second between ${what} that another client repeats`, async () => {
      const client = await fixture.open()
      await using node = new PersistentEphemeral(path, { data: 'ours' })
      await node.start(client)
      const stop = new AbortController()
      let attacks = 0
      const fight = async () => {
        while (!stop.signal.aborted) {
          const found = await outcomeOf(fixture.observer.getData(path))
          if (found instanceof Error || String((found as { data: Buffer }).data) !== 'ours') await fixture.sleep(20)
          else {
            await attack()
            attacks++
          }
        }
      }
      const fighting = fight()
      await fixture.sleep(20_000)
      stop.abort()
      await fighting
      expect(attacks).to.be.within(10, 60)
    })

  itInVirtualTime('passes a refusal to onUncaughtError once, and once more if it comes after a success', async () => {
    const codes: unknown[] = []
    const client = await fixture.open({ onUncaughtError: error => codes.push((error as ZooKeeperError).code) })
    await using node = new PersistentEphemeral(path)
    await node.start(client)
    for (const times of [1, 2]) {
      fixture.embedded.faults.replace('create', 'NOAUTH', { session: client.sessionId, times: 3 })
      await fixture.observer.delete(path)
      await fixture.until(async () => (await ownerOf()) === client.sessionId)
      await fixture.sleep(1000)
      expect(codes).to.deep.equal(Array.from({ length: times }, () => 'NOAUTH'))
    }
  })

  itEverywhere('writes new data, and writes it again when another client overwrites it', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral(path, { data: 'one' })
    await node.start(client)
    await node.setData('two')
    expect(await dataOf()).to.equal('two')
    await fixture.observer.setData(path, 'theirs')
    await fixture.until(async () => (await dataOf()) === 'two')
    await Promise.all(['three', 'four'].map(each => node.setData(each)))
    expect(await dataOf()).to.equal('four')
    await node.setData(null)
    expect((await fixture.observer.getData(path)).data).to.equal(null)
  })

  itInVirtualTime('does not delay a hundred changes of the data in a row', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral(path)
    await node.start(client)
    const before = fixture.server.clock.now()
    for (let i = 0; i < 100; i++) await node.setData(String(i))
    expect(fixture.server.clock.now() - before).to.be.below(100)
    expect(await dataOf()).to.equal('99')
  })

  itEverywhere('goes on in the next session of supervise(), with data that was set in between', async () => {
    const node = new PersistentEphemeral(path, { data: 'first' })
    const owners: bigint[] = []
    await supervise(fixture.server.connectString, fixture.server.options, async (zk, signal) => {
      await node.start(zk)
      owners.push((await ownerOf()) ?? 0n)
      expect(owners.at(-1)).to.equal(zk.sessionId)
      if (owners.length === 2) return node.close()
      await Promise.all([abortOf(signal), fixture.expire(zk)])
      return node.setData('second').catch(() => undefined)
    })
    expect(new Set(owners).size).to.equal(2)
    expect(node.data).to.equal('second')
    expect(await ownerOf()).to.equal(undefined)
  })

  itEverywhere('replaces the node of an older session when it starts, and the older session then waits', async () => {
    const [older, newer] = await fixture.openMany(2)
    await using first = new PersistentEphemeral(path, { data: 'old' })
    await first.start(older as Client)
    const second = new PersistentEphemeral(path, { data: 'new' })
    await second.start(newer as Client)
    expect(await ownerOf()).to.equal(newer?.sessionId)
    expect(await dataOf()).to.equal('new')
    // The older one has noticed: it watches the node of the newer one.
    await fixture.waitForWatches(2)
    expect(await ownerOf()).to.equal(newer?.sessionId)
    await second.close()
    await fixture.until(async () => (await ownerOf()) === older?.sessionId)
    expect(await dataOf()).to.equal('old')
  })

  itEverywhere('waits for the end of an older session with takeOver false', async () => {
    const [older, newer] = await fixture.openMany(2)
    await fixture.observer.ensurePath(`${fixture.path}/above`)
    await older?.create(path, 'old', { mode: 'ephemeral' })
    await using node = new PersistentEphemeral(path, { data: 'new', takeOver: false })
    const starting = node.start(newer as Client)
    await fixture.waitForWatches(1)
    expect(await dataOf()).to.equal('old')
    await fixture.expire(older as Client)
    await starting
    expect(await ownerOf()).to.equal(newer?.sessionId)
  })

  itInVirtualTime('moves to another session although the first one is still alive', async () => {
    const [one, two] = await fixture.openMany(2)
    await using node = new PersistentEphemeral(path)
    await node.start(one as Client)
    await node.start(two as Client)
    await one?.settled()
    expect(await ownerOf()).to.equal(two?.sessionId)
  })

  itEverywhere('rejects with NODEEXISTS if the node at the path is not ephemeral', async () => {
    await fixture.observer.create(path, 'permanent', { parents: true })
    const client = await fixture.open()
    const failed = await failureOf(new PersistentEphemeral(path).start(client))
    expect(failed).to.be.instanceOf(ZooKeeperError).and.to.include({ code: 'NODEEXISTS', path })
    expect((failed as Error).message).to.match(/not ephemeral.*delete it, or choose another path/)
    await client.settled()
    expect(await dataOf()).to.equal('permanent')
  })

  itInVirtualTime('reports an error that occurs later once, and goes on', async () => {
    const reports: unknown[] = []
    const client = await fixture.open({ onUncaughtError: error => reports.push(error) })
    await using node = new PersistentEphemeral(path, { data: 'x' })
    await node.start(client)
    const faults = [1, 2, 3].map(() => fixture.embedded.faults.replace('create', 'QUOTAEXCEEDED', {}))
    await fixture.observer.delete(path)
    await Promise.all(faults.map(fault => fault.triggered))
    await fixture.until(async () => (await ownerOf()) === client.sessionId)
    expect(reports.map(each => (each as ZooKeeperError).code)).to.deep.equal(['QUOTAEXCEEDED'])
  })

  itEverywhere('keeps the name of a sequential node', async () => {
    const client = await fixture.open()
    await using node = new PersistentEphemeral(`${path}-`, { mode: 'ephemeralSequential', data: 's' })
    await node.start(client)
    const created = node.path
    expect(created.slice(fixture.path.length)).to.match(/^\/above\/_c_[0-9a-f-]{36}-node-\d{10}$/)
    await fixture.observer.delete(created)
    await fixture.until(async () => (await fixture.observer.exists(created)) !== null)
    expect(node.path).to.equal(created)
    const next = await fixture.open()
    await fixture.expire(client)
    await node.start(next)
    expect((await fixture.observer.exists(created))?.ephemeralOwner).to.equal(next.sessionId)
  })

  itEverywhere('keeps a persistent node, and deletes it at close() unless it has children', async () => {
    const client = await fixture.open()
    const node = new PersistentEphemeral(path, { mode: 'persistent', data: 'p' })
    await node.start(client)
    expect(await ownerOf()).to.equal(0n)
    await fixture.observer.delete(path)
    await fixture.until(async () => (await ownerOf()) === 0n)
    await fixture.observer.create(`${path}/child`)
    await node.close()
    expect(await ownerOf()).to.equal(0n)
    await fixture.observer.delete(`${path}/child`)
    const again = new PersistentEphemeral(path, { mode: 'persistent' })
    await again.start(client)
    await again.close()
    expect(await ownerOf()).to.equal(undefined)
  })

  itInVirtualTime('refuses wrong arguments', async () => {
    const refused = (make: () => unknown, detail: RegExp) =>
      expect(make).to.throw(ZooKeeperError, detail).with.property('code', 'BADARGUMENTS')
    refused(() => new PersistentEphemeral('/'), /root/)
    refused(() => new PersistentEphemeral('/a', { mode: 'container' as never }), /mode must be one of/)
    refused(() => new PersistentEphemeral('/a', { mode: 'persistentTTL' }), /need each other/)
    refused(() => new PersistentEphemeral('/a', { ttl: 5 }), /need each other/)
    const node = new PersistentEphemeral('/a')
    expect(await failureOf(node.setData(undefined as never))).to.have.property('code', 'BADARGUMENTS')
  })

  describe('with a fault at each of its requests', () => {
    itInVirtualTime('finds the sequential node of a create whose reply was lost', async () => {
      const { faultyDial, client } = await fixture.openWithFaults()
      await fixture.observer.ensurePath(`${fixture.path}/above`)
      const happened = faultyDial.dropReply(opcodes.create2)
      await using node = new PersistentEphemeral(`${path}-`, { mode: 'ephemeralSequential' })
      await node.start(client)
      await happened
      expect(await fixture.ephemeralNodes()).to.deep.equal([node.path])
    })

    itInVirtualTime(
      'rejects setData() when the session ends or close() is called, and has the data in the next session',
      async () => {
        const { faultyDial, client } = await fixture.openWithFaults()
        const node = new PersistentEphemeral(path, { data: 'one' })
        await node.start(client)
        faultyDial.refuse()
        const first = outcomeOf(node.setData('two'))
        await fixture.expire(client)
        faultyDial.accept()
        expect(await first).to.have.property('code', 'SESSIONEXPIRED')
        const next = await fixture.openWithFaults()
        await node.start(next.client)
        expect(await dataOf()).to.equal('two')
        next.faultyDial.refuse()
        const second = outcomeOf(node.setData('three'))
        const closing = node.close()
        expect(await second).to.have.property('code', 'CLOSED')
        next.faultyDial.accept()
        await closing
      },
    )
  })
})
