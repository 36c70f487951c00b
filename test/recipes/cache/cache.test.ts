// What a cache has and tells, on both servers.
import { expect } from 'chai'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { creatorAllACL, openACL, type Client } from '../../../src/index.ts'
import { opcodes, ReplyHeader, xids } from '../../../src/protocol/index.ts'
import { Cache, type CacheChange, type CacheOptions } from '../../../src/recipes/index.ts'
import { onBothServers } from '../fixture.ts'
import { CacheUnderTest } from './cache-under-test.ts'
import { onRequest } from '../../support/sent-opcodes.ts'

onBothServers('Cache', (fixture, { itInVirtualTime, itEverywhere }) => {
  const tree = new CacheUnderTest(fixture)
  const created = (rest: string) => `created ${rest}`

  itEverywhere(
    'has the data and Stats of all nodes of the subtree once it is ready, and its children by name',
    async () => {
      await tree.create('/a', '/a/é', '/a/é/c', '/b')
      await fixture.observer.setData(`${fixture.path}/b`, null)
      const client = await fixture.open()
      await using cache = tree.open(client)
      expect([cache.state, cache.size]).to.deep.equal(['loading', 0])
      await cache.ready
      expect(cache.state).to.equal('live')
      expect(tree.pathsOf(cache)).to.deep.equal(['', '/a', '/a/é', '/a/é/c', '/b'])
      for (const { path, data, stat } of cache)
        expect({ data, stat }, path).to.deep.equal(await fixture.observer.getData(path))
      expect(cache.get(`${fixture.path}/a/é`)?.data?.toString()).to.equal('é')
      expect(cache.get(`${fixture.path}/b`)?.data).to.equal(null)
      expect(cache.children(fixture.path)?.sort()).to.deep.equal(['a', 'b'])
      expect(cache.children(`${fixture.path}/b`)).to.deep.equal([])
      expect(cache.get(`${fixture.path}/c`)).to.equal(undefined)
      expect(cache.children('/')).to.equal(undefined)
    },
  )

  itEverywhere('tells each created, changed and deleted node with its old and new data', async () => {
    const client = await fixture.open()
    await using cache = tree.open(client)
    await cache.ready
    await tree.create('/a', '/a/b')
    await tree.tells('created /a: undefined > a', 'created /a/b: undefined > b')
    const before = cache.get(`${fixture.path}/a`)?.stat
    const heard: CacheChange[] = []
    cache.on('change', change => heard.push(change))
    await fixture.observer.setData(`${fixture.path}/a`, 'new')
    await tree.tells('changed /a: a > new')
    await fixture.observer.deleteRecursive(`${fixture.path}/a`)
    await tree.tells('deleted /a/b: b > undefined', 'deleted /a: new > undefined')
    expect(tree.changes).to.have.length(6)
    const [changed] = heard
    expect(changed?.old?.stat).to.deep.equal(before)
    expect(changed?.node?.stat).to.include({ version: 1, czxid: before?.czxid })
    expect(changed?.node?.stat.mzxid).to.equal(heard.at(-1)?.old?.stat.mzxid)
    expect(tree.pathsOf(cache)).to.deep.equal([''])
  })

  itEverywhere('tells a node that was deleted and created again as deleted and created', async () => {
    const path = `${fixture.path}/a`
    await tree.create('/a', '/a/b')
    await using cache = tree.open(await fixture.open())
    await cache.ready
    tree.changes.length = 0
    const again = { create: path, data: 'again' }
    await fixture.observer.multi([{ delete: `${path}/b` }, { delete: path }, again, { create: `${path}/c`, data: 'c' }])
    await tree.tells('created /a/c: undefined > c')
    expect(tree.changes).to.deep.equal([
      'deleted /a/b: b > undefined',
      'deleted /a: a > undefined',
      'created /a: undefined > again',
      'created /a/c: undefined > c',
    ])
  })

  itEverywhere('begins with a root that does not exist, and follows its creation and deletion', async () => {
    await using cache = tree.open(await fixture.open(), {}, `${fixture.path}/later`)
    await cache.ready
    expect(cache.size).to.equal(0)
    await tree.create('/later', '/later/x')
    await tree.tells('created /later/x: undefined > x')
    await fixture.observer.deleteRecursive(`${fixture.path}/later`)
    await tree.tells('deleted /later: r > undefined')
    await tree.create('/later')
    await fixture.until(() => cache.size === 1)
  })

  itEverywhere('keeps only the levels of its depth, and the paths and the data that its options select', async () => {
    await tree.create('/a', '/a/b', '/a/b/c', '/x', '/x/y')
    const client = await fixture.open()
    const cases: [CacheOptions, string[]][] = [
      [{ depth: 0 }, ['']],
      [{ depth: 1 }, ['', '/a', '/x']],
      [{ depth: 2 }, ['', '/a', '/a/b', '/x', '/x/y']],
      [{ paths: path => !path.endsWith('/x') }, ['', '/a', '/a/b', '/a/b/c']],
    ]
    for (const [options, expected] of cases) {
      await using cache = tree.open(client, options)
      await cache.ready
      expect(tree.pathsOf(cache)).to.deep.equal(expected)
      await fixture.observer.create(`${fixture.path}/x/new`)
      await fixture.observer.setData(fixture.path, 'changed')
      await fixture.until(() => tree.changes.some(each => each.startsWith('changed :')))
      expect(tree.pathsOf(cache)).to.deep.equal(expected.includes('/x/y') ? [...expected, '/x/new'].sort() : expected)
      await fixture.observer.delete(`${fixture.path}/x/new`)
    }
    await using bare = tree.open(client, { data: path => path.endsWith('/a') })
    await bare.ready
    expect([...bare].flatMap(({ data }) => data?.toString() ?? [])).to.deep.equal(['a'])
    expect(bare.get(`${fixture.path}/x`)?.stat.dataLength).to.equal(1)
  })

  itEverywhere('keeps data compressed with a codec, and in less memory', async () => {
    const data = 'the same again and again '.repeat(100)
    await fixture.observer.setData(fixture.path, data)
    const client = await fixture.open()
    await using plain = tree.open(client)
    await using compressed = tree.open(client, { codec: { encode: deflateRawSync, decode: inflateRawSync } })
    await Promise.all([plain.ready, compressed.ready])
    expect(compressed.get(fixture.path)?.data?.toString()).to.equal(data)
    expect(compressed.get(fixture.path)?.stat.dataLength).to.equal(data.length)
    expect(compressed.bytes).to.be.below(plain.bytes / 3)
  })

  itEverywhere('yields the changes to each reader, and ends with the copy as it was', async () => {
    const cache = tree.open(await fixture.open())
    const reading = (async () => {
      const read: string[] = []
      for await (const change of cache.changes()) read.push(tree.textOf(change))
      return read
    })()
    await cache.ready
    await tree.create('/a')
    await tree.tells('created /a: undefined > a')
    await cache.close()
    expect(await reading).to.deep.equal(tree.changes)
    expect([cache.state, cache.size]).to.deep.equal(['closed', 2])
    expect(await cache.changes().next()).to.deep.equal({ value: undefined, done: true })
    await tree.create('/b')
    expect(cache.size).to.equal(2)
  })

  itEverywhere(
    'begins each iteration with the nodes of the copy, parents first, and goes on with all changes',
    async () => {
      await tree.create('/a', '/a/b')
      await using cache = tree.open(await fixture.open())
      await cache.ready
      const [early, late] = [cache.changes(), cache.changes()]
      const next = async (changes: AsyncIterator<CacheChange, undefined>) =>
        tree.textOf((await changes.next()).value ?? expect.fail('the iteration has ended'))
      expect([await next(early), await next(early)]).to.deep.equal([': undefined > ', '/a: undefined > a'].map(created))
      tree.changes.length = 0
      await fixture.observer.setData(`${fixture.path}/a/b`, 'new')
      await fixture.observer.delete(`${fixture.path}/a/b`)
      await fixture.until(() => cache.size === 2)
      const changes = tree.changes.slice()
      const nodes = ['/a: undefined > a', '/a/b: undefined > b'].map(created)
      expect(await next(late)).to.equal(created(': undefined > '))
      for (const each of [...nodes, ...changes]) expect(await next(late)).to.equal(each)
      for (const each of [nodes[1], ...changes]) expect(await next(early)).to.equal(each)
      expect(changes.at(-1)).to.match(/^deleted \/a\/b: (b|new) > undefined$/)
      await early.return()
      await late.return()
    },
  )

  itInVirtualTime('decodes no data for an iteration that was left, and for a listener that was removed', async () => {
    let decoded = 0
    const decode = (data: Buffer) => {
      decoded++
      return data
    }
    await using cache = new Cache(await fixture.open(), fixture.path, { codec: { encode: data => data, decode } })
    await cache.ready
    const listener = () => undefined
    cache.on('change', listener).off('change', listener)
    for await (const { type } of cache.changes()) {
      expect(type).to.equal('created')
      break
    }
    decoded = 0
    await fixture.observer.setData(fixture.path, 'new')
    await fixture.until(() => decoded > 0)
    await fixture.sleep(100)
    expect(decoded, 'once, to see that it can be decoded').to.equal(1)
  })

  itEverywhere('tells a node that it may not read as hidden, reads on, and has it when it may', async () => {
    await tree.create('/open', '/secret', '/secret/x')
    await fixture.observer.addAuth('digest', 'bob:secret')
    await fixture.observer.setACL(`${fixture.path}/secret`, creatorAllACL)
    await using cache = tree.open(await fixture.open())
    await cache.ready
    expect(tree.pathsOf(cache)).to.deep.equal(['', '/open'])
    expect([...cache.hidden.keys()]).to.deep.equal([`${fixture.path}/secret`])
    expect(tree.changes).to.include('hidden /secret: undefined > undefined')
    await fixture.observer.setACL(`${fixture.path}/secret`, openACL)
    await fixture.observer.setData(`${fixture.path}/secret`, 'shown')
    await tree.tells('created /secret: undefined > shown', 'created /secret/x: undefined > x')
    expect(cache.hidden.size).to.equal(0)
  })

  itEverywhere('works below a chroot, whose paths it shows', async () => {
    await tree.create('/app', '/app/a')
    const client = await fixture.open()
    await using cache = new Cache(client.chroot(`${fixture.path}/app`), '/')
    await cache.ready
    await tree.create('/app/a/b')
    await fixture.until(() => cache.size === 3)
    expect([...cache].map(({ path }) => path)).to.deep.equal(['/', '/a', '/a/b'])
    expect(cache.children('/a')).to.deep.equal(['b'])
  })

  itEverywhere('reads a node that changes again and again with one read at a time', async () => {
    const client = await fixture.open({
      onFrame: onRequest(opcodes.getData, () => reads++),
    })
    let reads = 0
    await using cache = tree.open(client)
    await cache.ready
    reads = 0
    const { observer, path } = fixture
    await Promise.all(Array.from({ length: 1000 }, (_, i) => observer.setData(path, String(i))))
    await fixture.until(() => cache.get(path)?.data?.toString() === '999')
    expect(reads).to.be.within(1, 200)
    const versions = tree.changes.map(each => Number(each.split('> ')[1]))
    expect(versions).to.deep.equal(versions.toSorted((a, b) => a - b))
  })

  itInVirtualTime('refuses wrong arguments', async () => {
    const client = await fixture.open()
    const refused = (make: () => unknown, message: RegExp) =>
      expect(make).to.throw(message).with.property('code', 'BADARGUMENTS')
    refused(() => new Cache(undefined as unknown as Client, '/a'), /must be a client/)
    refused(() => new Cache(client, 'a'), /must start with/)
    refused(() => new Cache(client, '/a', { depth: 0.5 }), /depth must be a whole number/)
    refused(() => new Cache(client, '/a', { data: 'no' } as never), /data must be true, false or a function/)
    refused(() => new Cache(client, '/a', { codec: {} } as never), /codec must be an object with/)
    refused(() => new Cache(client, '/a', { previous: {} } as never), /previous must be a Cache/)
    const open = tree.open(client)
    refused(() => new Cache(client, fixture.path, { previous: open }), /has not ended: close it first/)
    refused(() => open.changes({ capacity: 0 }), /capacity must be/)
    await open.close()
    await open.close()
    refused(() => new Cache(client, '/other', { previous: open }), /of another path/)
  })

  itEverywhere(
    'loads 10 000 nodes, 1 000 of them with children, with a tenth of a request a node, 8 at a time',
    async () => {
      const { observer, path } = fixture
      const createDirectory = (_: unknown, i: number) => {
        const paths = ['', ...Array.from({ length: 9 }, (_, k) => `/node-${k}`)]
        return observer.multi(paths.map(name => ({ create: `${path}/directory-${i}${name}` })))
      }
      await Promise.all(Array.from({ length: 1000 }, createDirectory))
      let [inFlight, most, requests] = [0, 0, 0]
      const client = await fixture.open({
        onFrame: ({ from, first, bytes }) => {
          if (first || (from === 'server' && ReplyHeader.decode(bytes).xid === xids.notification)) return
          inFlight += from === 'client' ? 1 : -1
          if (from === 'client') requests++
          most = Math.max(most, inFlight)
        },
      })
      await using cache = tree.open(client)
      await cache.ready
      expect(cache.size).to.equal(10_001)
      // A ping may be in flight too.
      expect(most).to.be.within(4, 9)
      expect(requests).to.be.below(1000)
    },
  )
})
