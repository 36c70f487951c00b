// Section 2.1 of the fault matrix: the transport, on a real server behind the proxy for faults. Rows A8, A9 and A11, and more of A7 and
// A10, are about dialling and time and stand in dialling.test.ts. Not here:
//
//   A2   a leader that is killed: test/ensemble/failover.test.ts
//   A12  loss within SASL: test/sasl/real-server.test.ts, "begins anew where the connection is lost within it"; here with addAuth
import { expect } from 'chai'
import { opcodes } from '../../src/protocol/index.ts'
import { connect, type Client, type State } from '../../src/client/index.ts'
import { startApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { behindProxy, PROXIED_TIMEOUT } from '../support/behind-proxy.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { fastRetryClock } from '../support/fast-retry-clock.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { until } from '../support/until.ts'

const stateOf = (client: Client, wanted: State): Promise<void> => until(() => client.state === wanted)

describe('2.1 the transport', () => {
  const proxied = behindProxy()

  it('A1: a server that is killed and started again: calls under way fail, queued ones are done, watches of each kind fire', async function () {
    this.timeout(60_000)
    await using server = await startApacheZooKeeper()
    await using client = await connect(server.connectString, { sessionTimeout: 10_000, attemptTimeout: 1000 })
    await client.create('/n')
    const { stat } = await client.create('/mine', '', { mode: 'ephemeral' })
    const { sessionId } = client
    const log: string[] = []
    const record = (name: string) => (event: { type: string }) => void log.push(`${name} ${event.type}`)
    await client.getData('/n', { watch: record('data') })
    await client.exists('/n', { watch: record('there') })
    await client.exists('/absent', { watch: record('absent') })
    await client.getChildren('/n', { watch: record('children') })
    await server.pause()
    const lost = Array.from({ length: 50 }, (_, i) => outcomeOf(client.setData('/n', String(i))))
    await server.kill()
    for (const call of lost) expect(await call).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect(client.state).to.equal('suspended')
    expect(log).to.deep.equal([])
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
      expect(log).to.deep.equal([
        'children NodeChildrenChanged',
        'absent NodeCreated',
        'data NodeDataChanged',
        'there NodeDataChanged',
      ])
    else expect(log).to.have.length(4)
  })

  it('A3: a reply that is cut mid-frame, at any of its bytes, is discarded with its connection', async () => {
    const { proxy, path, open } = proxied
    // It would take part in the faults.
    await proxied.client.close()
    await using client = await open({ clock: fastRetryClock })
    await client.getData(path)
    const length = 4 + (proxy.frames.at(-1)?.bytes.length ?? 0)
    expect(length).to.equal(4 + 16 + 4 + 'what is there'.length + 68)
    const { sessionId } = client
    for (let cut = 0; cut < length; cut++) {
      proxy.conditions.bytesLeft = cut
      const lost = client.getData(path)
      expect(await failureOf(lost), `cut at ${cut}`).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      expect((await client.getData(path)).data?.toString(), `cut at ${cut}`).to.equal('what is there')
    }
    expect(client.sessionId).to.equal(sessionId)
  })

  const operations: [op: string, opcode: number, call: (client: Client, path: string) => Promise<unknown>][] = [
    ['create', opcodes.create2, (client, path) => client.create(`${path}/new`)],
    ['delete', opcodes.delete, (client, path) => client.delete(`${path}/absent`)],
    ['exists', opcodes.exists, (client, path) => client.exists(path)],
    ['getData', opcodes.getData, (client, path) => client.getData(path)],
    ['setData', opcodes.setData, (client, path) => client.setData(path, 'x')],
    ['getChildren', opcodes.getChildren2, (client, path) => client.getChildren(path)],
    ['getACL', opcodes.getACL, (client, path) => client.getACL(path)],
    ['sync', opcodes.sync, (client, path) => client.sync(path)],
    ['multi', opcodes.multi, (client, path) => client.multi([{ check: path, version: 0 }])],
  ]
  for (const [op, opcode, call] of operations) {
    for (const end of ['RST', 'FIN'] as const) {
      it(`A4: ${end} in the place of the answer to ${op} fails what is in flight once, and the session goes on`, async () => {
        const { proxy, client, path } = proxied
        const { sessionId } = client
        if (end === 'RST') void proxy.dropReply(opcode)
        else proxy.conditions.bytesLeft = 0
        const calls = [call(client, path), client.getData(path), client.exists(path)].map(failureOf)
        for (const lost of calls) expect(await lost).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
        const startedAt = performance.now()
        await client.sync(path)
        expect(performance.now() - startedAt, 'ms to recover').to.be.below(LOAD_ALLOWANCE)
        expect(client.sessionId).to.equal(sessionId)
      })
    }
  }

  it('A4: ten resets in a row cost neither the session, nor its ephemeral nodes, nor its watches', async () => {
    const { proxy, client, path } = proxied
    const { stat } = await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    const log: string[] = []
    await client.getData(path, { watch: ({ type }) => log.push(type) })
    const { sessionId } = client
    for (let i = 0; i < 10; i++) {
      proxy.resetAll()
      await stateOf(client, 'suspended')
      await client.sync(path)
    }
    expect(client.sessionId).to.equal(sessionId)
    expect((await client.exists(`${path}/mine`))?.czxid).to.equal(stat.czxid)
    await client.setData(path, 'x')
    expect(log).to.deep.equal(['NodeDataChanged'])
    await client.delete(`${path}/mine`)
  })

  for (const [row, direction] of [
    ['A5', 'both'],
    ['A6', 'up'],
    ['A6', 'down'],
  ] as const) {
    it(`${row}: a black hole (${direction}) is noticed within two thirds of the timeout, and the session comes back`, async () => {
      const { proxy, client, path } = proxied
      const states: State[] = []
      client.on('state', state => states.push(state))
      await client.sync(path)
      const startedAt = performance.now()
      proxy.conditions.blackHole = direction
      const lost = client.setData(path, 'lost')
      expect(await failureOf(lost)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      expect(performance.now() - startedAt).to.be.at.least((PROXIED_TIMEOUT * 2) / 3 - 100)
      // The lease ends with the timeout: it is not over yet.
      expect(client.leaseSignal.aborted).to.equal(false)
      proxy.heal()
      await client.sync(path)
      expect(states).to.deep.equal(['suspended', 'connected'])
    })
  }

  it('A6: a server that hears nothing expires the session, and the client is told when it is heard again', async () => {
    const { server, proxy, client, path } = proxied
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await using other = await connect(server.connectString)
    const gone = new Promise(resolve => void other.exists(`${path}/mine`, { watch: resolve }))
    await other.sync(path)
    proxy.conditions.blackHole = 'up'
    await gone
    expect(client.validFor(), 'the lease is over before the server ends the session').to.equal(0)
    expect(client.state).to.equal('suspended')
    proxy.heal()
    await stateOf(client, 'expired')
  })

  it('A7: replies that come byte by byte, handshake included, are read', async () => {
    const { proxy, path, open } = proxied
    proxy.conditions.slice = 1
    await using slow = await open()
    const log: string[] = []
    const { data } = await slow.getData(path, { watch: ({ type }) => log.push(type) })
    expect(data?.toString()).to.equal('what is there')
    await slow.setData(path, 'x')
    expect(log).to.deep.equal(['NodeDataChanged'])
  })

  it('A10: a tenth of a second of latency either way suspends no session of one second', async () => {
    const { proxy, path, open } = proxied
    await using slow = await open({ sessionTimeout: 1000 })
    const states: State[] = []
    slow.on('state', state => states.push(state))
    proxy.conditions.delay = 100
    const startedAt = performance.now()
    while (performance.now() - startedAt < 1200) await slow.getData(path)
    expect(states).to.deep.equal([])
    proxy.conditions.delay = 0
  })

  it('A12: loss at any byte of the answer to credentials: no call is ever answered without them', async () => {
    const { server, proxy, client, path, open } = proxied
    // It would take part in the faults.
    await client.close()
    await using owner = await connect(server.connectString)
    await owner.addAuth('digest', 'ann:secret')
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    await owner.create(`${path}/guarded`, 'for ann', { acl })
    const ann = await open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }], clock: fastRetryClock })
    const handshake = 4 + (proxy.frames.findLast(({ from, xid }) => from === 'server' && xid === 0)?.bytes.length ?? 0)
    for (let cut = handshake; cut <= handshake + 20; cut++) {
      proxy.resetAll()
      await stateOf(ann, 'suspended')
      proxy.conditions.bytesLeft = cut
      const lost = ann.getData(`${path}/guarded`)
      expect(await failureOf(lost), `cut at ${cut}`).to.include({ code: 'CONNECTIONLOSS' })
      expect(String((await ann.getData(`${path}/guarded`)).data), `cut at ${cut}`).to.equal('for ann')
    }
    const firstOf = new Map<number, number>()
    for (const { from, connection, opcode } of proxy.frames)
      if (from === 'client' && opcode !== undefined && !firstOf.has(connection)) firstOf.set(connection, opcode)
    const ofAnn = [...firstOf].filter(([connection]) => connection > 0).map(([, opcode]) => opcode)
    expect(new Set(ofAnn)).to.deep.equal(new Set([opcodes.auth]))
    await ann.close()
    await owner.delete(`${path}/guarded`)
  })
})
