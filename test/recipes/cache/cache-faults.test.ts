// How a cache goes on and ends: lost connections and sessions, aborts, limits, errors.
import { expect } from 'chai'
import { opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import { RecipeError } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'
import { CacheUnderTest } from './cache-under-test.ts'

onBothServers('Cache under faults', (fixture, { itInVirtualTime, itEverywhere }) => {
  const tree = new CacheUnderTest(fixture)

  itEverywhere('tells what changed while it had no connection, each node once', async () => {
    await tree.create('/a', '/b', '/b/x', '/c')
    const { faultyDial, client } = await fixture.openWithFaults()
    await using cache = tree.open(client)
    await cache.ready
    tree.changes.length = 0
    faultyDial.refuse()
    await fixture.until(() => cache.state === 'stale')
    await fixture.observer.setData(`${fixture.path}/a`, '1')
    await fixture.observer.setData(`${fixture.path}/a`, '2')
    await fixture.observer.deleteRecursive(`${fixture.path}/b`)
    await tree.create('/d', '/d/y', '/e')
    await fixture.observer.delete(`${fixture.path}/e`)
    faultyDial.accept()
    await fixture.until(() => cache.state === 'live')
    expect(tree.changes.sort()).to.deep.equal([
      'changed /a: a > 2',
      'created /d/y: undefined > y',
      'created /d: undefined > d',
      'deleted /b/x: x > undefined',
      'deleted /b: b > undefined',
    ])
  })

  itEverywhere('ends with the session, and continues in the next one as its previous cache', async () => {
    await tree.create('/a', '/b')
    const client = await fixture.open()
    const cache = tree.open(client)
    const reading = (async () => {
      for await (const change of cache.changes()) void change
    })()
    await cache.ready
    await fixture.expire(client)
    expect(await failureOf(reading)).to.have.property('code', 'SESSIONEXPIRED')
    expect([cache.state, cache.size]).to.deep.equal(['closed', 3])
    await fixture.observer.delete(`${fixture.path}/a`)
    await fixture.observer.setData(`${fixture.path}/b`, 'later')
    await using next = tree.open(await fixture.open(), { previous: cache })
    expect(next.size, 'before it has read').to.equal(3)
    await next.ready
    expect(tree.changes.sort()).to.deep.equal(['changed /b: b > later', 'deleted /a: a > undefined'])
    expect(cache.size, 'the previous copy').to.equal(3)
  })

  itEverywhere(
    'makes the server of a new session catch up first, because it may lag behind the one before',
    async () => {
      const before = tree.open(await fixture.open())
      await before.ready
      await before.close()
      const sent: number[] = []
      const client = await fixture.open({
        onFrame: ({ from, first, bytes }) => {
          if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
        },
      })
      await using cache = tree.open(client, { previous: before })
      await cache.ready
      expect(sent.filter(type => type !== opcodes.ping).slice(0, 2)).to.deep.equal([opcodes.sync, opcodes.addWatch])
      expect(tree.changes).to.deep.equal([])
    },
  )

  itEverywhere('rejects ready and ends with the reason of its signal, whenever it aborts', async () => {
    await tree.create('/a', '/a/b')
    for (const opcode of [opcodes.addWatch, opcodes.getData, opcodes.multiRead, opcodes.getChildren2]) {
      const { faultyDial, client } = await fixture.openWithFaults()
      const [abort, reason] = [new AbortController(), new Error('cancelled')]
      const arrived = faultyDial.holdReply(opcode)
      const cache = tree.open(client, { signal: abort.signal })
      const reading = failureOf(cache.changes().next())
      // The last read is only sent for a second list.
      await Promise.race([arrived, cache.ready])
      abort.abort(reason)
      expect(cache.state).to.equal('closed')
      if (opcode === opcodes.addWatch) {
        expect(await failureOf(cache.ready)).to.equal(reason)
        expect(await reading).to.equal(reason)
      } else await reading.catch(() => undefined)
      faultyDial.heal()
      await client.settled()
      expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
    }
    const aborted = tree.open(await fixture.open(), { signal: AbortSignal.abort(new Error('before')) })
    expect(await failureOf(aborted.ready)).to.have.property('message', 'before')
  })

  itInVirtualTime('ends with TOOLARGE when the copy needs more than maxBytes', async () => {
    await tree.create(...Array.from({ length: 20 }, (_, i) => `/node-${i}`))
    const cache = tree.open(await fixture.open(), { maxBytes: 1000 })
    const error = await failureOf(cache.ready)
    expect(error).to.be.instanceOf(RecipeError).and.to.include({ code: 'TOOLARGE', path: fixture.path })
    expect((error as Error).message).to.match(/needs more than maxBytes, 1000: raise it, or leave out data or paths$/)
    expect([cache.state, cache.size < 20]).to.deep.equal(['closed', true])
  })

  itInVirtualTime('rejects the iteration with LAGGING when more changes wait than its capacity', async () => {
    await using cache = tree.open(await fixture.open())
    await cache.ready
    const reader = cache.changes({ capacity: 2 })
    await tree.create('/a', '/b', '/c')
    await fixture.until(() => cache.size === 4)
    expect(await failureOf(reader.next()))
      .to.be.instanceOf(RecipeError)
      .and.to.have.property('code', 'LAGGING')
    expect(await reader.next()).to.deep.equal({ value: undefined, done: true })
    expect(tree.pathsOf(cache)).to.have.length(4)
  })

  itInVirtualTime('leaves the loop when the signal of changes() aborts, and goes on for others', async () => {
    await using cache = tree.open(await fixture.open())
    await cache.ready
    const [abort, reason] = [new AbortController(), new Error('enough')]
    const [one, other] = [cache.changes({ signal: abort.signal }).next(), cache.changes().next()]
    abort.abort(reason)
    expect(await failureOf(one)).to.equal(reason)
    await tree.create('/a')
    expect((await other).value?.path).to.equal(`${fixture.path}/a`)
    expect(await failureOf(cache.changes({ signal: abort.signal }).next())).to.equal(reason)
  })

  itInVirtualTime(
    'tells an unreadably large node as hidden, and does not read it again after the reconnect',
    async () => {
      await tree.create('/a', '/large', '/z')
      await fixture.observer.setData(`${fixture.path}/large`, 'x'.repeat(50_000))
      const client = await fixture.open({ maxReplyBytes: 20_000 })
      await using cache = tree.open(client)
      await cache.ready
      await fixture.until(() => cache.state === 'live')
      expect(tree.pathsOf(cache)).to.deep.equal(['', '/a', '/z'])
      expect(cache.hidden.get(`${fixture.path}/large`)).to.have.property('code', 'REPLYTOOLARGE')
      const { connects } = client.stats
      expect(connects, 'once for the request of many nodes, and once for the node alone').to.be.at.most(3)
      await fixture.sleep(10_000)
      expect(client.stats.connects).to.equal(connects)
      await fixture.observer.setData(`${fixture.path}/large`, 'small')
      await fixture.until(() => cache.size === 4)
    },
  )

  itInVirtualTime(
    'passes the error of an option’s function to ready, and of a listener to onUncaughtError',
    async () => {
      const thrown: unknown[] = []
      const client = await fixture.open({ onUncaughtError: error => thrown.push(error) })
      await tree.create('/a')
      const failing = tree.open(client, {
        paths: () => {
          throw new Error('no paths')
        },
      })
      expect(await failureOf(failing.ready)).to.have.property('message', 'no paths')
      await using cache = tree.open(client)
      cache.on('change', () => {
        throw new Error('no listener')
      })
      await cache.ready
      await fixture.until(() => thrown.length === 2)
      expect(tree.changes).to.have.length(2)
    },
  )

  itInVirtualTime('leaves the persistent watch of another watcher on its path', async () => {
    const client = await fixture.open()
    const watcher = await client.addWatch(fixture.path, { recursive: true })
    const cache = tree.open(client)
    await cache.ready
    await cache.close()
    await tree.create('/a')
    expect((await watcher.next()).value?.type).to.equal('NodeCreated')
    await watcher.close()
  })
})
