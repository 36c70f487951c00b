import { expect } from 'chai'
import { createModes, opcodes, operations, perms } from '../../src/protocol/index.ts'
import { connect, type Client, type ConnectOptions, type State } from '../../src/session/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { RawSession } from '../support/raw-session.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    value => expect.fail(`it did not reject but gave ${String(value)}`),
    (error: unknown) => error,
  )

const T = 2000

const stateOf = (client: Client, wanted: State): Promise<void> => until(() => client.state === wanted)

describe('a session through faults', () => {
  let server: ApacheZooKeeper
  let proxy: FaultProxy
  let client: Client
  let path: string
  let run = 0

  const open = (options: ConnectOptions = {}) =>
    connect(proxy.connectString, { sessionTimeout: T, attemptTimeout: 1000, ...options })

  before(async () => {
    server = await sharedServer()
  })
  beforeEach(async () => {
    proxy = await FaultProxy.start(server)
    client = await open()
    path = `/faults-${++run}`
    await client.create(path, 'what is there')
  })
  afterEach(async () => {
    proxy.pass()
    await client.close()
    await proxy.close()
    await using other = await connect(server.connectString)
    await other.deleteRecursive(path)
  })

  it('recovers from a reply that is cut at any of its bytes', async () => {
    await client.getData(path)
    const length = 4 + (proxy.frames.at(-1)?.bytes.length ?? 0)
    expect(length).to.equal(4 + 16 + 4 + 'what is there'.length + 68)
    const { sessionId } = client
    for (let cut = 0; cut < length; cut++) {
      proxy.weather.bytesLeft = cut
      const lost = client.getData(path)
      expect(await failure(lost), `cut at ${cut}`).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      expect((await client.getData(path)).data?.toString(), `cut at ${cut}`).to.equal('what is there')
    }
    expect(client.sessionId).to.equal(sessionId)
  })

  it('reads a stream that comes byte by byte, handshake included', async () => {
    proxy.weather.slice = 1
    await using slow = await open()
    const heard: string[] = []
    const { data } = await slow.getData(path, { watch: ({ type }) => heard.push(type) })
    expect(data?.toString()).to.equal('what is there')
    await slow.setData(path, 'x')
    expect(heard).to.deep.equal(['NodeDataChanged'])
  })

  it('says of a write whose answer was lost that it may have been done, as it was', async () => {
    void proxy.dropReply(opcodes.setData)
    expect(await failure(client.setData(path, 'done'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect((await client.getData(path)).data?.toString()).to.equal('done')
  })

  it('says of a write that was lost on its way the same, as it was not', async () => {
    void proxy.dropRequest(opcodes.setData)
    expect(await failure(client.setData(path, 'lost'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect((await client.getData(path)).data?.toString()).to.equal('what is there')
    const sent = proxy.frames.filter(({ from, opcode }) => from === 'client' && opcode === opcodes.setData)
    expect(sent).to.have.length(1)
  })

  it('keeps its place while an answer is held, and goes on when it comes', async () => {
    const held = proxy.holdReply(opcodes.getData)
    const order: string[] = []
    const calls = [
      client.getData(path).then(() => order.push('held')),
      client.exists(path).then(() => order.push('next')),
    ]
    await held
    expect(order).to.deep.equal([])
    proxy.release()
    await Promise.all(calls)
    expect(order).to.deep.equal(['held', 'next'])
  })

  it('keeps ephemeral nodes and watches over resets', async () => {
    const { stat } = await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    const heard: string[] = []
    await client.getData(path, { watch: ({ type }) => heard.push(type) })
    const { sessionId } = client
    for (let i = 0; i < 10; i++) {
      proxy.resetAll()
      await stateOf(client, 'suspended')
      await client.sync(path)
    }
    expect(client.sessionId).to.equal(sessionId)
    expect((await client.exists(`${path}/mine`))?.czxid).to.equal(stat.czxid)
    await client.setData(path, 'x')
    expect(heard).to.deep.equal(['NodeDataChanged'])
    await client.delete(`${path}/mine`)
  })

  it('hears after a reconnect of what happened meanwhile, by each kind of watch', async () => {
    await client.create(`${path}/deleted`)
    const heard: string[] = []
    const note = (who: string) => (event: { type: string }) => void heard.push(`${who} ${event.type}`)
    await client.getData(path, { watch: note('data') })
    await client.exists(`${path}/created`, { watch: note('absent') })
    await client.getChildren(path, { watch: note('children') })
    await client.exists(`${path}/deleted`, { watch: note('there') })
    await client.exists(`${path}/never`, { watch: note('never') })
    proxy.weather.blackHole = 'down'
    await using other = await connect(server.connectString)
    await other.multi([{ setData: path, data: 'x' }, { create: `${path}/created` }, { delete: `${path}/deleted` }])
    await stateOf(client, 'suspended')
    expect(heard).to.deep.equal([])
    proxy.pass()
    await client.sync(path)
    expect(heard).to.have.members([
      'data NodeDataChanged',
      'absent NodeCreated',
      'children NodeChildrenChanged',
      'there NodeDeleted',
    ])
    await other.delete(`${path}/created`)
  })

  for (const direction of ['up', 'down', 'both'] as const) {
    it(`notices a black hole (${direction}) within two thirds of its timeout, and comes back`, async () => {
      const states: State[] = []
      client.on('state', state => states.push(state))
      await client.sync(path)
      const begun = performance.now()
      proxy.weather.blackHole = direction
      const lost = client.setData(path, 'lost')
      expect(await failure(lost)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      expect(performance.now() - begun).to.be.within((T * 2) / 3 - 100, T)
      expect(client.lease.aborted).to.equal(false)
      proxy.pass()
      await client.sync(path)
      expect(states).to.deep.equal(['suspended', 'connected'])
    })
  }

  it('bears a slow line', async () => {
    await using slow = await open({ sessionTimeout: 1000 })
    const states: State[] = []
    slow.on('state', state => states.push(state))
    proxy.weather.delay = 100
    const begun = performance.now()
    while (performance.now() - begun < 1200) await slow.getData(path)
    expect(states).to.deep.equal([])
    proxy.weather.delay = 0
  })

  it('is resumed by another process that has its id and password', async () => {
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    const session = { id: client.sessionId, password: client.sessionPassword }
    proxy.weather.blackHole = 'both'
    await using heir = await connect(server.connectString, { session })
    expect(heir.sessionId).to.equal(session.id)
    expect((await heir.exists(`${path}/mine`))?.ephemeralOwner).to.equal(session.id)
    await heir.close()
    proxy.pass()
    await stateOf(client, 'expired')
    const wrong = { id: session.id, password: Buffer.alloc(16) }
    expect(await failure(connect(server.connectString, { session: wrong }))).to.include({ code: 'SESSIONEXPIRED' })
  })

  it('tells everybody when it has expired at the server, at once and once', async () => {
    const states: State[] = []
    const events: string[] = []
    client.on('state', state => states.push(state))
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await client.getData(path, { watch: ({ type, state }) => events.push(`${type} ${state}`) })
    const { lease } = client
    await expireSession(server, client.sessionId, client.sessionPassword)
    await stateOf(client, 'expired')
    expect(states).to.deep.equal(['suspended', 'expired'])
    expect(events).to.deep.equal(['Session expired'])
    expect(lease.aborted).to.equal(true)
    expect(await failure(client.getData(path))).to.include({ code: 'SESSIONEXPIRED', fate: 'notSent' })
    await client.close()
    expect(client.state).to.equal('expired')
  })

  it('refuses an oversize request by itself, and the others do not feel it', async () => {
    const others = Array.from({ length: 20 }, () => client.getData(path))
    expect(await failure(client.setData(path, Buffer.alloc(1_048_576)))).to.include({ code: 'REQUESTTOOLARGE' })
    await Promise.all(others)
    // As large as goes through.
    await client.setData(path, Buffer.alloc(1_048_375))
    expect(proxy.connectionCount).to.equal(1)
    expect(client.state).to.equal('connected')
  })

  it('is left in peace by the server while another session of its process is lost', async () => {
    const raw = await RawSession.open(server)
    const acl = [{ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }]
    const flags = createModes.ephemeral
    await raw.request(operations.create, { path: `${path}/raw`, data: '', acl, flags })
    const gone = new Promise(resolve => void client.exists(`${path}/raw`, { watch: resolve }))
    await client.sync(path)
    await expireSession(server, raw.sessionId, raw.password)
    expect(await gone).to.include({ type: 'NodeDeleted' })
    expect(client.state).to.equal('connected')
  })

  it('frees its ephemeral nodes at once when it is closed', async () => {
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await using other = await connect(server.connectString)
    const gone = new Promise(resolve => void other.exists(`${path}/mine`, { watch: resolve }))
    await other.sync(path)
    const begun = performance.now()
    await client.close()
    expect(await gone).to.include({ type: 'NodeDeleted' })
    expect(performance.now() - begun).to.be.below(1000)
  })
})

describe('a session whose server is killed and started again', function () {
  this.timeout(60_000)

  it('goes on: calls under way fail, queued ones are done, watches of each kind fire', async () => {
    await using server = await startApacheZooKeeper()
    await using client = await connect(server.connectString, { sessionTimeout: 10_000, attemptTimeout: 1000 })
    await client.create('/n')
    const { stat } = await client.create('/mine', '', { mode: 'ephemeral' })
    const { sessionId } = client
    const heard: string[] = []
    const note = (who: string) => (event: { type: string }) => void heard.push(`${who} ${event.type}`)
    await client.getData('/n', { watch: note('data') })
    await client.exists('/n', { watch: note('there') })
    await client.exists('/absent', { watch: note('absent') })
    await client.getChildren('/n', { watch: note('children') })
    await server.pause()
    const lost = Array.from({ length: 50 }, (_, i) => client.setData('/n', String(i)).catch((error: unknown) => error))
    await server.kill()
    for (const call of lost) expect(await call).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect(client.state).to.equal('suspended')
    expect(heard).to.deep.equal([])
    const queued = client.exists('/mine')
    await server.start()
    expect((await queued)?.czxid).to.equal(stat.czxid)
    expect(client.sessionId).to.equal(sessionId)
    expect(client.validFor()).to.be.above(5000)
    const marker = (await client.getData('/n')).stat.version
    await client.create('/n/child')
    await client.create('/absent')
    await client.setData('/n', 'changed')
    // The fifty writes may have been in the log: then the watches have fired already.
    if (marker === 0)
      expect(heard).to.deep.equal([
        'children NodeChildrenChanged',
        'absent NodeCreated',
        'data NodeDataChanged',
        'there NodeDataChanged',
      ])
    else expect(heard).to.have.length(4)
  })
})

describe('the proxy for faults', () => {
  it('records what passes, both ways', async () => {
    await using proxy = await FaultProxy.start(await sharedServer())
    const client = await connect(proxy.connectString)
    await client.exists('/nowhere')
    await client.close()
    expect(proxy.frames.map(({ from, xid, opcode }) => [from, xid, opcode])).to.deep.equal([
      ['client', 0, undefined],
      ['server', 0, undefined],
      ['client', 1, opcodes.exists],
      ['server', 1, opcodes.exists],
      ['client', 2, opcodes.closeSession],
      ['server', 2, opcodes.closeSession],
    ])
  })

  it('does its harm to the k-th request of a kind', async () => {
    await using proxy = await FaultProxy.start(await sharedServer())
    await using client = await connect(proxy.connectString)
    const dropped = proxy.dropReply(opcodes.exists, 3)
    const outcomes: string[] = []
    for (let i = 0; i < 3; i++) {
      await client.sync('/')
      const outcome = client.exists('/').then(
        () => 'answered',
        () => 'lost',
      )
      outcomes.push(await outcome)
    }
    await dropped
    expect(outcomes).to.deep.equal(['answered', 'answered', 'lost'])
  })
})
