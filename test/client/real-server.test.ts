import { expect } from 'chai'
import { MultiError, type CreateMode } from '../../src/protocol/index.ts'
import { connect, type Client, type WatchEvent } from '../../src/client/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { has } from '../../environment/server-version.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'
import { failureOf } from '../support/settled.ts'

describe('a client of a real server', () => {
  let server: ApacheZooKeeper
  let client: Client
  /** Each test has a separate root. */
  let top: Client
  let run = 0

  before(async () => {
    server = await sharedServer()
    client = await connect(server.connectString, { sessionTimeout: 10_000 })
  })
  beforeEach(async () => {
    top = client.chroot(`/real-${++run}`)
    await top.ensurePath('/')
  })
  afterEach(async () => {
    await top.deleteRecursive('/')
    await client.settled()
  })
  after(() => client.close())

  for (const [mode, isEphemeral, isSequential] of [
    ['persistent', false, false],
    ['ephemeral', true, false],
    ['persistentSequential', false, true],
    ['ephemeralSequential', true, true],
    ['container', false, false],
  ] as const satisfies [CreateMode, boolean, boolean][]) {
    it(`creates nodes in mode ${mode}`, async () => {
      const { path, stat } = await top.create('/n', 'data', { mode })
      expect(path).to.equal(isSequential ? '/n0000000000' : '/n')
      expect(stat.ephemeralOwner === client.sessionId).to.equal(isEphemeral)
      expect(stat).to.include({ version: 0, dataLength: 4, numChildren: 0 })
      expect(stat.czxid).to.equal(stat.mzxid)
      expect(stat.ctime).to.be.within(Date.now() - 60_000, Date.now() + 60_000)
      expect(await top.getData(path)).to.deep.equal({ data: Buffer.from('data'), stat })
    })
  }

  it('never changes returned data when it reads other data later', async () => {
    const values = [10, 5000, 70_000].flatMap(length => [1, 2, 3].map(byte => Buffer.alloc(length, byte)))
    await Promise.all(values.map((value, i) => top.create(`/${i}`, value)))
    const shown: { bytes: Uint8Array; was: Buffer }[] = []
    await using reader = await connect(`${server.connectString}/real-${run}`, {
      onFrame: ({ bytes }) => shown.push({ bytes, was: Buffer.from(bytes) }),
    })
    const one = []
    for (const i of values.keys()) one.push((await reader.getData(`/${i}`)).data)
    const atOnce = await Promise.all(values.map(async (_, i) => (await reader.getData(`/${i}`)).data))
    await reader.getChildren('/')
    expect(one.every((data, i) => data?.equals(values[i] as Buffer))).to.equal(true)
    expect(atOnce.every((data, i) => data?.equals(values[i] as Buffer))).to.equal(true)
    expect(shown.length).to.be.above(4 * values.length)
    expect(shown.every(({ bytes, was }) => was.equals(bytes))).to.equal(true)
  })

  it('rejects TTL nodes with UNIMPLEMENTED on a server with the default configuration', async function () {
    this.timeout(60_000)
    await using other = await startApacheZooKeeper()
    await using plain = await connect(other.connectString)
    for (const mode of ['persistentTTL', 'persistentSequentialTTL'] as const)
      expect(await failureOf(plain.create('/n', '', { mode, ttl: 1000 }))).to.include({
        code: 'UNIMPLEMENTED',
        fate: 'refused',
        op: 'create',
        path: '/n',
      })
  })

  it('creates TTL nodes if the server has enabled them', async function () {
    this.timeout(60_000)
    await using other = await startApacheZooKeeper({
      jvm: ['-Dzookeeper.extendedTypesEnabled=true', '-Dznode.container.checkIntervalMs=50'],
    })
    await using short = await connect(other.connectString)
    expect(await short.create('/n', '', { mode: 'persistentTTL', ttl: 1 })).to.include({ path: '/n' })
    await until(async () => (await short.exists('/n')) === null)
    const { path } = await short.create('/s-', '', { mode: 'persistentSequentialTTL', ttl: 60_000 })
    expect(path).to.match(/^\/s-\d{10}$/)
  })

  it('rejects invalid arguments before anything is sent', async () => {
    for (const [call, op] of [
      [top.create('relative'), 'create'],
      [top.create('/a', '', { mode: 'persistent', ttl: 1 }), 'create'],
      [top.create('/a', '', { mode: 'persistentTTL' }), 'create'],
      [top.create('/a', '', { mode: 'forever' as CreateMode }), 'create'],
      [top.create('/a', '', { acl: [] }), 'create'],
      [top.create('/a', 7 as unknown as string), 'create'],
      [top.delete('/a', { version: 1.5 }), 'delete'],
      [top.create('/a', '', { ttl: 5 }), 'create'],
      [top.setData('/a', 7 as unknown as string), 'setData'],
      [top.setData('/a', '', { version: 2 ** 31 }), 'setData'],
      [top.setACL('/a', [{ perms: 31 } as never]), 'setACL'],
      [top.addWatch('/a', { capacity: 0 }), 'addWatch'],
      [top.getEphemerals('a'), 'getEphemerals'],
      [top.multiRead([{ getData: 'x' }]), 'multiRead'],
      [top.getData('/a/'), 'getData'],
      [top.getChildren('//'), 'getChildren'],
      [top.exists('/a/../b'), 'exists'],
      [top.sync(''), 'sync'],
      [top.multi([{ delete: 'x' }]), 'multi'],
    ] as const)
      expect(await failureOf(call)).to.include({ code: 'BADARGUMENTS', fate: 'notSent', op })
  })

  it('deletes nodes with a version and without one', async () => {
    await top.create('/n')
    expect(await failureOf(top.delete('/n', { version: 7 }))).to.include({
      code: 'BADVERSION',
      op: 'delete',
      path: '/n',
    })
    await top.delete('/n', { version: 0 })
    expect(await failureOf(top.delete('/n'))).to.include({ code: 'NONODE', errno: -101, fate: 'refused' })
    await top.create('/n')
    await top.create('/n/child')
    expect(await failureOf(top.delete('/n'))).to.include({ code: 'NOTEMPTY' })
  })

  it('returns whether a node exists', async () => {
    expect(await top.exists('/n')).to.equal(null)
    const { stat } = await top.create('/n')
    expect(await top.exists('/n')).to.deep.equal(stat)
  })

  it('distinguishes null from empty data', async () => {
    await top.create('/left-out')
    await top.create('/empty', Buffer.alloc(0))
    await top.create('/null', null)
    expect((await top.getData('/left-out')).data).to.deep.equal(Buffer.alloc(0))
    expect((await top.getData('/empty')).data).to.deep.equal(Buffer.alloc(0))
    expect((await top.getData('/null')).data).to.equal(null)
    const large = Buffer.alloc(1_000_000, 'large')
    expect((await top.setData('/null', large)).version).to.equal(1)
    expect((await top.getData('/null')).data?.equals(large)).to.equal(true)
    await top.setData('/null', null)
    expect((await top.getData('/null')).data).to.equal(null)
  })

  it('sets data with a version and without one', async () => {
    await top.create('/n', 'a')
    const stat = await top.setData('/n', 'b', { version: 0 })
    expect(stat).to.include({ version: 1, dataLength: 1 })
    expect(await failureOf(top.setData('/n', 'c', { version: 0 }))).to.include({ code: 'BADVERSION' })
    expect((await top.setData('/n', 'ü')).version).to.equal(2)
    expect((await top.getData('/n')).data?.toString()).to.equal('ü')
  })

  it('lists children, including names in any script', async () => {
    const names = ['a', '日本', 'space here', '__proto__', 'constructor', 'e\u0301', 'é']
    await Promise.all(names.map(name => top.create(`/${name}`)))
    const { children, stat } = await top.getChildren('/')
    expect(children).to.have.members(names)
    expect(stat.numChildren).to.equal(names.length)
  })

  it('executes pipelined calls in order, including sync', async () => {
    const calls = [top.create('/a'), top.create('/a/b'), top.create('/a/b/c'), top.sync('/a'), top.delete('/a/b/c')]
    await Promise.all(calls)
    const stats = await Promise.all(
      Array.from({ length: 100 }, (_, i) => top.create(`/a/${i}`).then(({ stat }) => stat.czxid)),
    )
    expect([...stats].sort((a, b) => Number(a - b))).to.deep.equal(stats)
  })

  it('executes a multi; servers before ZOOKEEPER-4026 return no stat for its creates', async () => {
    await top.create('/old', 'old')
    const results = await top.multi([
      { check: '/old', version: 0 },
      { create: '/new', data: 'new' },
      { create: '/s-', mode: 'persistentSequential' },
      { create: '/box', mode: 'container' },
      { setData: '/old', data: 'changed', version: 0 },
      { delete: '/box' },
    ])
    expect(results.length).to.equal(6)
    expect(results[0]).to.equal(undefined)
    const hasStat = has(await server.version(), 'ZOOKEEPER-4026')
    const stat = async (path: string) => (hasStat ? await top.exists(path) : null)
    expect(results[1]).to.deep.equal({ path: '/new', stat: await stat('/new') })
    // The sequence number counts the changes of the parent, which has had two children before.
    expect(results[2]).to.deep.equal({ path: '/s-0000000002', stat: await stat('/s-0000000002') })
    expect(results[4]).to.include({ version: 1, dataLength: 7 })
    expect(results[5]).to.equal(undefined)
    expect((await top.getChildren('/')).children).to.have.members(['old', 'new', 's-0000000002'])
    expect(await top.multi([])).to.deep.equal([])
  })

  it('executes nothing of a multi that fails, and names the failed operation', async () => {
    await top.create('/n')
    const error = await failureOf(top.multi([{ create: '/a' }, { check: '/n', version: 5 }, { delete: '/n' }]))
    expect(error).to.be.an.instanceOf(MultiError)
    expect(error).to.include({ code: 'BADVERSION', op: 'check', path: '/n', fate: 'refused' })
    expect((error as MultiError).results).to.deep.equal([
      { code: 'OK', errno: 0 },
      { code: 'BADVERSION', errno: -103 },
      { code: 'RUNTIMEINCONSISTENCY', errno: -2 },
    ])
    expect((await top.getChildren('/')).children).to.deep.equal(['n'])
  })

  it('builds and commits a transaction', async () => {
    const transaction = top.transaction().create('/a', 'x').setData('/a', 'y').check('/a', { version: 1 })
    expect(await top.exists('/a')).to.equal(null)
    const [created, set] = await transaction.commit()
    expect(created).to.include({ path: '/a' })
    expect(set).to.include({ version: 1 })
    await top.transaction().delete('/a', { version: 1 }).commit()
    expect(await top.exists('/a')).to.equal(null)
  })

  it('fires each kind of watch once', async () => {
    await top.create('/n')
    const log: string[] = []
    const record = (name: string) => (event: WatchEvent) => void log.push(`${name} ${event.type} ${event.path}`)
    await top.getData('/n', { watch: record('data') })
    await top.exists('/absent', { watch: record('exists') })
    await top.getChildren('/n', { watch: record('children') })
    await top.create('/absent')
    await top.create('/n/child')
    await top.setData('/n', 'x')
    await top.setData('/n', 'y')
    expect(log).to.deep.equal([
      'exists NodeCreated /absent',
      'children NodeChildrenChanged /n',
      'data NodeDataChanged /n',
    ])
  })

  it('removes its watches from the server', async () => {
    const before = await server.watchCount()
    await top.create('/n')
    const controller = new AbortController()
    const log: string[] = []
    await top.getData('/n', { watch: ({ type }) => log.push(type) })
    await top.exists('/absent', { watch: ({ type }) => log.push(type), signal: controller.signal })
    await top.getChildren('/n', { watch: ({ type }) => log.push(type) })
    expect(await server.watchCount()).to.equal(before + 3)
    controller.abort()
    await client.settled()
    expect(await server.watchCount()).to.equal(before + 2)
    await top.removeWatches('/n', 'children')
    expect(await server.watchCount()).to.equal(before + 1)
    await top.removeWatches('/n')
    expect(await server.watchCount()).to.equal(before)
    expect(await failureOf(top.removeWatches('/n'))).to.include({ code: 'NOWATCHER', op: 'removeWatches', path: '/n' })
    await top.setData('/n', '')
    await top.sync('/n')
    expect(log).to.deep.equal([])
  })

  it('removes the watches of a view that is closed, and no others', async () => {
    const before = await server.watchCount()
    await top.create('/n')
    const log: string[] = []
    const view = top.chroot('/n')
    await view.getData('/', { watch: ({ type }) => log.push(`view ${type}`) })
    await view.exists('/x', { watch: ({ type }) => log.push(`view ${type}`) })
    await top.getData('/n', { watch: ({ type }) => log.push(`top ${type}`) })
    await view.close()
    await client.settled()
    expect(await server.watchCount()).to.equal(before + 1)
    await top.setData('/n', 'x')
    expect(log).to.deep.equal(['view Session', 'view Session', 'top NodeDataChanged'])
    expect(client.state).to.equal('connected')
  })

  it('creates missing parents while other calls do the same', async () => {
    const paths = Array.from({ length: 20 }, (_, i) => `/deep/er/and/${i % 3}/deeper`)
    await Promise.all(paths.map(path => top.ensurePath(path)))
    expect((await top.getChildren('/deep/er/and')).children).to.have.members(['0', '1', '2'])
    await top.ensurePath('/')
    await top.ensurePath('/deep/box', { mode: 'container' })
    expect(await top.exists('/deep/box')).not.to.equal(null)
  })

  it('creates the path of its chroot', async () => {
    const inner = top.chroot('/not/there/yet')
    expect(await failureOf(inner.create('/n'))).to.include({ code: 'NONODE' })
    await inner.ensurePath('/')
    await inner.create('/n')
    expect(await top.exists('/not/there/yet/n')).not.to.equal(null)
  })

  it('deletes branches, and resolves if a branch does not exist', async () => {
    await Promise.all(['/a/b/c', '/a/d', '/a/e/f/g'].map(path => top.ensurePath(path)))
    await top.deleteRecursive('/a')
    await top.deleteRecursive('/a')
    expect((await top.getChildren('/')).children).to.deep.equal([])
  })

  it('deletes a branch while other clients write to it', async () => {
    await top.create('/a')
    const others = (async () => {
      for (let i = 0; i < 50; i++) await top.create(`/a/${i}`).catch((error: unknown) => error)
    })()
    await Promise.all([top.deleteRecursive('/a'), others])
    expect(await top.exists('/a')).to.equal(null)
  })

  it('behaves the same with the chroot of a connect string and of a view', async () => {
    await using low = await connect(`${server.connectString}/real-${run}/app`)
    await low.ensurePath('/')
    const { path } = await low.create('/s-', '', { mode: 'persistentSequential' })
    expect(path).to.equal('/s-0000000000')
    expect(await top.chroot('/app').exists(path)).not.to.equal(null)
    expect((await low.getChildren('/')).children).to.deep.equal(['s-0000000000'])
    const [result] = await low.multi([{ create: '/m' }])
    expect(result).to.include({ path: '/m' })
  })

  it('is identified by its added credentials', async () => {
    await using ann = await connect(server.connectString, { auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    const path = `/real-${run}/private`
    await ann.create(path, 'hers', { acl: [{ perms: 31, id: { scheme: 'auth', id: '' } }] })
    await using bob = await connect(server.connectString)
    expect(await failureOf(bob.getData(path))).to.include({ code: 'NOAUTH' })
    await bob.addAuth('digest', 'ann:secret')
    expect((await bob.getData(path)).data?.toString()).to.equal('hers')
    await bob.delete(path)
    await using carl = await connect(server.connectString)
    expect(await failureOf(carl.addAuth('no-such-scheme', 'x'))).to.include({ code: 'AUTHFAILED' })
    expect(carl.state).to.equal('authFailed')
  })
})
