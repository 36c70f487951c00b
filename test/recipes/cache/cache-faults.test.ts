// How a cache goes on and ends: lost connections and sessions, aborts, limits, errors.
import { expect } from 'chai'
import { openACL, perms, type Client, type ZooKeeperError } from '../../../src/index.ts'
import { opcodes, ReplyHeader } from '../../../src/protocol/index.ts'
import { Cache, RecipeError, type CacheOptions } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { onBothServers } from '../fixture.ts'
import { openACLWithout } from '../public-calls.ts'
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
      const client = await fixture.open({ onFrame: opcodesInto(sent) })
      await using cache = tree.open(client, { previous: before })
      await cache.ready
      expect(sent.filter(type => type !== opcodes.ping).slice(0, 2)).to.deep.equal([opcodes.sync, opcodes.addWatch])
      expect(tree.changes).to.deep.equal([])
    },
  )

  itInVirtualTime('ends with TOOLARGE when the copy needs more than maxBytes', async () => {
    await tree.create(...Array.from({ length: 20 }, (_, i) => `/node-${i}`))
    const cache = tree.open(await fixture.open(), { maxBytes: 1000 })
    const error = await failureOf(cache.ready)
    expect(error).to.be.instanceOf(RecipeError).and.to.include({ code: 'TOOLARGE', path: fixture.path })
    expect((error as Error).message).to.match(/needs more than maxBytes, 1000: raise it, or leave out data or paths$/)
    expect([cache.state, cache.size < 20]).to.deep.equal(['closed', true])
    await using whole = tree.open(await fixture.open())
    await whole.ready
    await using exact = tree.open(await fixture.open(), { maxBytes: whole.bytes })
    await exact.ready
    expect(exact.size).to.equal(21)
  })

  itInVirtualTime('rejects the iteration with LAGGING when more changes wait than its capacity', async () => {
    await using cache = tree.open(await fixture.open())
    await cache.ready
    await tree.create('/a', '/b', '/c')
    await fixture.until(() => cache.size === 4)
    const [reader, wide] = [cache.changes({ capacity: 2 }), cache.changes({ capacity: 3 })]
    expect((await reader.next()).value?.type, 'a node of the copy is no change that waits').to.equal('created')
    await tree.create('/d', '/e', '/f')
    await fixture.until(() => cache.size === 7)
    expect(await failureOf(reader.next()))
      .to.be.instanceOf(RecipeError)
      .and.to.have.property('code', 'LAGGING')
    for (let i = 0; i < 7; i++) expect((await wide.next()).value?.type).to.equal('created')
    await wide.return()
    expect(await reader.next()).to.deep.equal({ value: undefined, done: true })
  })

  itInVirtualTime('leaves the loop when the signal of changes() aborts, and goes on for others', async () => {
    await using cache = tree.open(await fixture.open())
    await cache.ready
    const [abort, reason] = [new AbortController(), new Error('enough')]
    const [one, other] = [cache.changes({ signal: abort.signal }), cache.changes()]
    for (const each of [one, other]) expect((await each.next()).value?.path).to.equal(fixture.path)
    const next = failureOf(one.next())
    abort.abort(reason)
    expect(await next).to.equal(reason)
    await tree.create('/a')
    expect((await other.next()).value?.path).to.equal(`${fixture.path}/a`)
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

  for (const kind of ['addWatch', 'getData', 'getChildren', 'exists'] as const)
    itInVirtualTime(`ends with the error of ${kind} if a server without persistent watches refuses it`, async () => {
      const thrown: unknown[] = []
      const client = await fixture.open({ onUncaughtError: error => thrown.push((error as ZooKeeperError).code) })
      const { faults } = fixture.embedded
      const each = { session: client.sessionId, times: Infinity }
      if (kind !== 'addWatch') faults.replace('addWatch', 'UNIMPLEMENTED', each)
      faults.replace(kind, 'SYSTEMERROR', each)
      // exists() watches a root that is missing, after the cache is ready.
      await using cache = tree.open(client, {}, kind === 'exists' ? `${fixture.path}/missing` : fixture.path)
      await fixture.until(() => cache.state === 'closed')
      expect(thrown).to.deep.equal(['SYSTEMERROR'])
      faults.clear()
    })

  itInVirtualTime(
    'reads a hidden node once, although exists() finds it, at a server without persistent watches',
    async () => {
      const sent: number[] = []
      const client = await fixture.open({ onFrame: opcodesInto(sent) })
      fixture.embedded.faults.replace('addWatch', 'UNIMPLEMENTED', { session: client.sessionId, times: Infinity })
      await fixture.observer.setACL(fixture.path, openACLWithout(perms.read))
      await using cache = tree.open(client)
      await fixture.sleep(1000)
      expect([...cache.hidden.keys()]).to.deep.equal([fixture.path])
      expect(sent.filter(type => type !== opcodes.ping)).to.deep.equal([
        opcodes.addWatch,
        opcodes.getData,
        opcodes.exists,
      ])
      fixture.embedded.faults.clear()
      await fixture.observer.setACL(fixture.path, openACL)
    },
  )

  describe('passes the error that ends it to onUncaughtError', () => {
    let thrown: unknown[]
    let client: Client
    const listener = () => undefined
    /** Opens a cache that may not grow. */
    const openFull = async () => {
      await using whole = tree.open(client)
      await whole.ready
      return new Cache(client, fixture.path, { maxBytes: whole.bytes })
    }
    const exceed = async (cache: Cache) => {
      await fixture.observer.setData(fixture.path, 'too large')
      await fixture.until(() => cache.state === 'closed')
    }
    const codes = () => thrown.map(error => (error as ZooKeeperError | RecipeError).code)

    beforeEach(async () => {
      thrown = []
      client = await fixture.run(() => fixture.open({ onUncaughtError: error => thrown.push(error) }))
    })

    itInVirtualTime('if there is a listener, even if an iteration rejects with it too', async () => {
      const cache = (await openFull()).on('change', listener)
      await cache.ready
      const changes = cache.changes()
      await changes.next()
      const failing = failureOf(changes.next())
      await exceed(cache)
      expect(await failing).to.equal(thrown[0])
      expect(codes()).to.deep.equal(['TOOLARGE'])
    })

    itInVirtualTime('if there is neither an iteration nor a caller that waits for ready', async () => {
      const cache = await openFull()
      await cache.ready
      await exceed(cache)
      const early = new Cache(client, fixture.path, { maxBytes: 1 })
      await fixture.until(() => early.state === 'closed')
      expect(codes()).to.deep.equal(['TOOLARGE', 'TOOLARGE'])
      expect(await failureOf(early.ready)).to.equal(thrown[1])
    })

    itInVirtualTime('but not if an iteration or ready rejects with it', async () => {
      expect(await failureOf(new Cache(client, fixture.path, { maxBytes: 1 }).ready)).to.have.property(
        'code',
        'TOOLARGE',
      )
      const cache = await openFull()
      await cache.ready
      const changes = cache.changes()
      await exceed(cache)
      await changes.next()
      expect(await failureOf(changes.next())).to.have.property('code', 'TOOLARGE')
      expect(codes()).to.deep.equal([])
    })

    itInVirtualTime('but neither close(), nor the reason of its signal, nor the end of the session', async () => {
      const abort = new AbortController()
      const caches = Array.from({ length: 3 }, (_, i) =>
        new Cache(client, fixture.path, { signal: i === 0 ? abort.signal : undefined }).on('change', listener),
      )
      await caches[1]?.close()
      abort.abort(new Error('enough'))
      await fixture.expire(client)
      await fixture.until(() => caches.every(({ state }) => state === 'closed'))
      expect(thrown).to.deep.equal([])
    })
  })

  itInVirtualTime('calls itself stale from the loss of the connection until it has read the tree again', async () => {
    const states = new Set<string>()
    let hasRead = false
    let look = (): void => undefined
    const { faultyDial, client } = await fixture.openWithFaults({
      onFrame: ({ from, first, bytes }) => {
        hasRead ||= !first && from === 'server' && client.stats.connects > 1 && ReplyHeader.decode(bytes).xid > 0
        // In each microtask until the frame has had all its effects.
        let looks = Promise.resolve()
        for (let i = 0; i < 50; i++) looks = looks.then(() => look())
      },
    })
    await using cache = tree.open(client)
    look = () => {
      const { connects } = client.stats
      if (connects > 1) states.add(`${hasRead ? 'after' : 'before'} the read: ${client.state} ${cache.state}`)
    }
    await cache.ready
    faultyDial.cut()
    await fixture.until(() => client.stats.connects > 1 && cache.state === 'live')
    expect(states).to.include('before the read: connected stale')
    expect(states).not.to.include('before the read: connected live')
    expect(states).to.include('after the read: connected live')
  })

  /** Options of which one function throws, for the node `bad` or its data, while `isFailing` returns true. */
  const optionsThatThrow = (isFailing: () => boolean, bad = 'bad'): Record<string, CacheOptions> => {
    const check = <T>(isBad: boolean, value: T): T => {
      if (isBad && isFailing()) throw new Error('bad')
      return value
    }
    const keep = (data: Buffer) => data
    const unlessBad = (data: Buffer) => check(data.toString() === 'bad', data)
    return {
      paths: { paths: path => check(path.endsWith(`/${bad}`), true) },
      data: { data: path => check(path.endsWith(`/${bad}`), true) },
      'codec.encode': { codec: { encode: unlessBad, decode: keep } },
      'codec.decode': { codec: { encode: keep, decode: unlessBad } },
    }
  }
  itInVirtualTime(
    'forgets a node that it could not keep, and that was deleted while there was no connection',
    async () => {
      const { client, faultyDial } = await fixture.openWithFaults({ onUncaughtError: () => undefined })
      await tree.create('/a', '/bad')
      await fixture.observer.setData(`${fixture.path}/bad`, 'bad')
      await using cache = tree.open(client, optionsThatThrow(() => true)['data'])
      await cache.ready
      expect(cache.hidden.size).to.equal(1)
      faultyDial.refuse()
      await fixture.observer.delete(`${fixture.path}/bad`)
      faultyDial.accept()
      await fixture.until(() => cache.state === 'live')
      expect(cache.hidden.size).to.equal(0)
    },
  )

  itInVirtualTime('tells a node as hidden once, and knows the last reason until it is gone', async () => {
    const { client, faultyDial } = await fixture.openWithFaults({ onUncaughtError: () => undefined })
    const { observer, path } = fixture
    let isFailing = false
    await tree.create('/p', '/p/h', '/p/x')
    const noRead = [{ perms: perms.all & ~perms.read, id: { scheme: 'world', id: 'anyone' } }]
    await observer.setACL(`${path}/p/h`, noRead)
    await using cache = tree.open(client, optionsThatThrow(() => isFailing, 'h')['data'])
    await cache.ready
    const whileOffline = async (write: () => Promise<unknown>) => {
      faultyDial.refuse()
      await write()
      faultyDial.accept()
      await fixture.until(() => cache.state === 'live')
    }
    const reasons: unknown[] = []
    const know = () => reasons.push((cache.hidden.get(`${path}/p/h`) as ZooKeeperError | undefined)?.code ?? 'bad')
    know()
    await whileOffline(() => tree.create('/p/y'))
    know()
    isFailing = true
    await whileOffline(() => observer.setACL(`${path}/p/h`, openACL))
    know()
    expect(reasons).to.deep.equal(['NOAUTH', 'NOAUTH', 'bad'])
    expect(tree.changes.filter(each => each.startsWith('hidden'))).to.deep.equal(['hidden /p/h: undefined > undefined'])
    await whileOffline(() => observer.deleteRecursive(`${path}/p`))
    expect([...cache.hidden.keys()]).to.deep.equal([])
  })

  for (const state of ['closed', 'expired'] as const)
    itInVirtualTime(`is closed from the start if its session is ${state}, and says so`, async () => {
      const client = await fixture.open()
      if (state === 'expired') await fixture.expire(client)
      else await client.close()
      await fixture.until(() => client.state === state)
      const cache = tree.open(client)
      expect(cache.state).to.equal('closed')
      const code = state === 'closed' ? 'CLOSED' : 'SESSIONEXPIRED'
      expect(await failureOf(cache.ready)).to.include({ code, op: 'Cache', fate: 'notSent' })
    })

  for (const name of Object.keys(optionsThatThrow(() => true))) {
    itEverywhere(`hides a node for which ${name} throws, tells onUncaughtError, and follows the others`, async () => {
      const thrown: unknown[] = []
      const client = await fixture.open({ onUncaughtError: error => thrown.push((error as Error).message) })
      const { observer, path } = fixture
      await tree.create('/a', '/bad', '/bad/x', '/c')
      await observer.setData(`${path}/bad`, 'bad')
      await using cache = tree.open(client, optionsThatThrow(() => true)[name])
      await cache.ready
      expect(tree.pathsOf(cache)).to.deep.equal(['', '/a', '/c'])
      expect([...cache.hidden].map(([each, error]) => [each, error.message])).to.deep.equal([[`${path}/bad`, 'bad']])
      expect(thrown).to.deep.equal(['bad'])
      expect(tree.changes).to.include('hidden /bad: undefined > undefined')
      await observer.setData(`${path}/a`, 'later')
      await observer.create(`${path}/c/d`, 'd')
      await tree.tells('changed /a: a > later', 'created /c/d: undefined > d')
      await observer.deleteRecursive(`${path}/bad`)
      await fixture.until(() => cache.hidden.size === 0)
      expect(cache.state).to.equal('live')
    })

    itInVirtualTime(
      `hides a node and those below it from the moment when ${name} throws, and has them again later`,
      async () => {
        let isFailing = false
        const thrown: unknown[] = []
        const client = await fixture.open({ onUncaughtError: error => thrown.push(error) })
        const { observer, path } = fixture
        await tree.create('/bad', '/bad/x')
        await using cache = tree.open(client, optionsThatThrow(() => isFailing)[name])
        await cache.ready
        isFailing = true
        await observer.setData(`${path}/bad`, 'bad')
        await fixture.until(() => cache.size === 1)
        expect(tree.changes.slice(-2)).to.deep.equal(['hidden /bad/x: x > undefined', 'hidden /bad: d > undefined'])
        expect(thrown).to.have.length(1)
        isFailing = false
        await observer.setData(`${path}/bad`, 'good')
        await tree.tells('created /bad: undefined > good', 'created /bad/x: undefined > x')
        expect(cache.hidden.size).to.equal(0)
      },
    )
  }

  for (const name of Object.keys(optionsThatThrow(() => true)))
    itInVirtualTime(`hides a node for which ${name} returns a promise, and tells onUncaughtError why`, async () => {
      const thrown: unknown[] = []
      const client = await fixture.open({ onUncaughtError: error => thrown.push((error as Error).message) })
      const later = () => Promise.reject(new Error('no error of the promise ends the process')) as never
      const keep = (data: Buffer) => data
      await tree.create('/a')
      await using cache = tree.open(client, {
        ...{ paths: { paths: later }, data: { data: later } }[name],
        ...{ 'codec.encode': { codec: { encode: later, decode: keep } } }[name],
        ...{ 'codec.decode': { codec: { encode: keep, decode: later } } }[name],
      })
      await cache.ready
      expect(cache.hidden.has(name === 'paths' ? `${fixture.path}/a` : fixture.path)).to.equal(true)
      expect(thrown).to.have.length(1)
      expect(thrown[0]).to.match(new RegExp(`^BADARGUMENTS: .*the function ${name} must return its result`))
    })

  itInVirtualTime(
    'has a node without its data if codec.decode throws for data that it has decoded before',
    async () => {
      let isFailing = false
      const thrown: unknown[] = []
      const client = await fixture.open({ onUncaughtError: error => thrown.push((error as Error).message) })
      await tree.create('/a', '/b')
      await fixture.observer.setData(`${fixture.path}/a`, 'bad')
      await using cache = tree.open(client, optionsThatThrow(() => isFailing)['codec.decode'])
      await cache.ready
      isFailing = true
      expect(cache.get(`${fixture.path}/a`)?.data).to.equal(undefined)
      expect(Array.from(cache, ({ data }) => data?.toString())).to.have.members(['', 'b', undefined])
      await fixture.observer.delete(`${fixture.path}/a`)
      await tree.tells('deleted /a: undefined > undefined')
      expect([cache.state, new Set(thrown)]).to.deep.equal(['live', new Set(['bad'])])
    },
  )

  itInVirtualTime('does not take nodes over from its previous cache for which paths throws', async () => {
    await tree.create('/bad', '/bad/x', '/c')
    const client = await fixture.open({ onUncaughtError: () => undefined })
    const before = tree.open(client)
    await before.ready
    await before.close()
    await using cache = tree.open(client, { ...optionsThatThrow(() => true)['paths'], previous: before })
    expect(tree.pathsOf(cache)).to.deep.equal(['', '/c'])
    await cache.ready
    expect([tree.pathsOf(cache), [...cache.hidden.keys()]]).to.deep.equal([['', '/c'], [`${fixture.path}/bad`]])
  })

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
