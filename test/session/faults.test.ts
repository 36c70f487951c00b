import { expect } from 'chai'
import { createModes, opcodes, operations, perms } from '../../src/protocol/index.ts'
import { connect, type Client, type State } from '../../src/client/index.ts'
import { behindProxy } from '../support/behind-proxy.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { WireSession } from '../support/wire-session.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { failureOf } from '../support/settled.ts'
import { until } from '../support/until.ts'

const stateOf = (client: Client, wanted: State): Promise<void> => until(() => client.state === wanted)

describe('a session through faults', () => {
  const proxied = behindProxy()

  it('keeps its place while an answer is held, and goes on when it comes', async () => {
    const { proxy, client, path } = proxied
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

  it('hears after a reconnect of what happened meanwhile, by each kind of watch', async () => {
    const { server, proxy, client, path } = proxied
    await client.create(`${path}/deleted`)
    const heard: string[] = []
    const note = (who: string) => (event: { type: string }) => void heard.push(`${who} ${event.type}`)
    await client.getData(path, { watch: note('data') })
    await client.exists(`${path}/created`, { watch: note('absent') })
    await client.getChildren(path, { watch: note('children') })
    await client.exists(`${path}/deleted`, { watch: note('there') })
    await client.exists(`${path}/never`, { watch: note('never') })
    proxy.conditions.blackHole = 'down'
    await using other = await connect(server.connectString)
    await other.multi([{ setData: path, data: 'x' }, { create: `${path}/created` }, { delete: `${path}/deleted` }])
    proxy.resetAll()
    await stateOf(client, 'suspended')
    expect(heard).to.deep.equal([])
    proxy.heal()
    await client.sync(path)
    expect(heard).to.have.members([
      'data NodeDataChanged',
      'absent NodeCreated',
      'children NodeChildrenChanged',
      'there NodeDeleted',
    ])
    await other.delete(`${path}/created`)
  })

  it('is resumed by another process that has its id and password', async () => {
    const { server, proxy, client, path } = proxied
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    const session = { id: client.sessionId, password: client.sessionPassword }
    proxy.conditions.blackHole = 'both'
    await using heir = await connect(server.connectString, { session })
    expect(heir.sessionId).to.equal(session.id)
    expect((await heir.exists(`${path}/mine`))?.ephemeralOwner).to.equal(session.id)
    await heir.close()
    proxy.heal()
    await stateOf(client, 'expired')
    const wrong = { id: session.id, password: Buffer.alloc(16) }
    expect(await failureOf(connect(server.connectString, { session: wrong }))).to.include({ code: 'SESSIONEXPIRED' })
  })

  it('tells everybody when it has expired at the server, at once and once', async () => {
    const { server, client, path } = proxied
    const states: State[] = []
    const events: string[] = []
    client.on('state', state => states.push(state))
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await client.getData(path, { watch: ({ type, state }) => events.push(`${type} ${state}`) })
    const { leaseSignal } = client
    await expireSession(server, client.sessionId, client.sessionPassword)
    await stateOf(client, 'expired')
    expect(states).to.deep.equal(['suspended', 'expired'])
    expect(events).to.deep.equal(['Session expired'])
    expect(leaseSignal.aborted).to.equal(true)
    expect(await failureOf(client.getData(path))).to.include({ code: 'SESSIONEXPIRED', fate: 'notSent' })
    await client.close()
    expect(client.state).to.equal('expired')
  })

  it('is left in peace by the server while another session of its process is lost', async () => {
    const { server, client, path } = proxied
    const raw = await WireSession.open(server)
    const acl = [{ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }]
    const flags = createModes.ephemeral
    await raw.request(operations.create, { path: `${path}/raw`, data: '', acl, flags })
    const gone = new Promise(resolve => void client.exists(`${path}/raw`, { watch: resolve }))
    await client.sync(path)
    await expireSession(server, raw.sessionId, raw.password)
    expect(await gone).to.include({ type: 'NodeDeleted' })
    expect(client.state).to.equal('connected')
  })

  it('G1: frees its ephemeral nodes at once when it is closed', async () => {
    const { server, client, path } = proxied
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await using other = await connect(server.connectString)
    const gone = new Promise(resolve => void other.exists(`${path}/mine`, { watch: resolve }))
    await other.sync(path)
    const begun = performance.now()
    await client.close()
    expect(await gone).to.include({ type: 'NodeDeleted' })
    expect(performance.now() - begun).to.be.below(LOAD_ALLOWANCE)
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
