// Faults of the transport, on a real server behind the fault proxy. docs/fault-matrix.md names the tests of all faults.
import { expect } from 'chai'
import { opcodes } from '../../src/protocol/index.ts'
import { connect, type Client, type State } from '../../src/client/index.ts'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { behindProxy, PROXIED_TIMEOUT } from '../support/behind-proxy.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { fastRetry } from '../support/fast-retry-clock.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { until } from '../../environment/until.ts'

/** Options of a client whose connection is cut at every byte of a reply. */
const cutOften = { ...fastRetry, sessionTimeout: 20_000 }

const stateOf = (client: Client, wanted: State): Promise<void> => until(() => client.state === wanted)

describe('the transport:', () => {
  const proxied = behindProxy()

  it('a restart of the server: calls in flight fail, queued calls succeed, watches fire', async function () {
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
    // The server may have logged the fifty writes before it was killed. Then the watches have fired already.
    if (marker === 0)
      expect(log).to.deep.equal([
        'children NodeChildrenChanged',
        'absent NodeCreated',
        'data NodeDataChanged',
        'there NodeDataChanged',
      ])
    else expect(log).to.have.length(4)
  })

  it('a reply that is cut at any byte is discarded with its connection', async () => {
    const { proxy, path, open } = proxied
    // The frames of this client would trigger the faults.
    await proxied.client.close()
    await using client = await open(cutOften)
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
      it(`${end} instead of the reply to ${op} rejects the calls in flight, and the session continues`, async () => {
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

  it('ten resets in a row do not lose the session, its ephemeral nodes or its watches', async () => {
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

  for (const direction of ['both', 'up', 'down'] as const) {
    it(`a black hole (${direction}) is detected after two thirds of the timeout; the session is resumed`, async () => {
      const { proxy, client, path } = proxied
      const states: State[] = []
      client.on('state', state => states.push(state))
      await client.sync(path)
      const startedAt = performance.now()
      proxy.conditions.blackHole = direction
      const lost = client.setData(path, 'lost')
      expect(await failureOf(lost)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      expect(performance.now() - startedAt).to.be.at.least((PROXIED_TIMEOUT * 2) / 3 - 100)
      // The lease ends after the full timeout.
      expect(client.leaseSignal.aborted).to.equal(false)
      proxy.heal()
      await client.sync(path)
      expect(states).to.deep.equal(['suspended', 'connected'])
    })
  }

  it('a server that receives nothing expires the session; the client learns of the expiry after the fault', async () => {
    const { server, proxy, client, path } = proxied
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await using other = await connect(server.connectString)
    const deleted = new Promise(resolve => void other.exists(`${path}/mine`, { watch: resolve }))
    await other.sync(path)
    proxy.conditions.blackHole = 'up'
    await deleted
    expect(client.validFor(), 'the lease ends before the server expires the session').to.equal(0)
    expect(client.state).to.equal('suspended')
    proxy.heal()
    await stateOf(client, 'expired')
  })

  it('replies that arrive byte by byte are decoded, including the handshake', async () => {
    const { proxy, path, open } = proxied
    proxy.conditions.slice = 1
    await using slow = await open()
    const log: string[] = []
    const { data } = await slow.getData(path, { watch: ({ type }) => log.push(type) })
    expect(data?.toString()).to.equal('what is there')
    await slow.setData(path, 'x')
    expect(log).to.deep.equal(['NodeDataChanged'])
  })

  it('a latency of 100 ms in each direction does not suspend a session with a timeout of 1 s', async () => {
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

  it('if the connection is lost at any byte of the reply to credentials, no call is sent before the credentials', async () => {
    const { server, proxy, client, path, open } = proxied
    // The frames of this client would trigger the faults.
    await client.close()
    await using owner = await connect(server.connectString)
    await owner.addAuth('digest', 'ann:secret')
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    await owner.create(`${path}/guarded`, 'for ann', { acl })
    const ann = await open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }], ...cutOften })
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
