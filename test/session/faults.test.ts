import { expect } from 'chai'
import { opcodes } from '../../src/protocol/index.ts'
import { connect, type Client, type State } from '../../src/client/index.ts'
import { behindProxy } from '../support/behind-proxy.ts'
import { FaultProxy } from '../../environment/fault-proxy.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

const stateOf = (client: Client, wanted: State): Promise<void> => until(() => client.state === wanted)

describe('a session through faults', () => {
  const proxied = behindProxy()

  it('fires each kind of watch after a reconnect for changes that happened meanwhile', async () => {
    const { server, proxy, client, path } = proxied
    await client.create(`${path}/deleted`)
    const events: string[] = []
    const record = (watch: string) => (event: { type: string }) => void events.push(`${watch} ${event.type}`)
    await client.getData(path, { watch: record('data') })
    await client.exists(`${path}/created`, { watch: record('absent') })
    await client.getChildren(path, { watch: record('children') })
    await client.exists(`${path}/deleted`, { watch: record('there') })
    await client.exists(`${path}/never`, { watch: record('never') })
    proxy.conditions.blackHole = 'down'
    await using other = await connect(server.connectString)
    await other.multi([{ setData: path, data: 'x' }, { create: `${path}/created` }, { delete: `${path}/deleted` }])
    proxy.resetAll()
    await stateOf(client, 'suspended')
    expect(events).to.deep.equal([])
    proxy.heal()
    await client.sync(path)
    expect(events).to.have.members([
      'data NodeDataChanged',
      'absent NodeCreated',
      'children NodeChildrenChanged',
      'there NodeDeleted',
    ])
    await other.delete(`${path}/created`)
  })

  it('can be resumed by another client with its id and password', async () => {
    const { server, proxy, client, path } = proxied
    await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    const session = { id: client.sessionId, password: client.sessionPassword }
    proxy.conditions.blackHole = 'both'
    await using successor = await connect(server.connectString, { session })
    expect(successor.sessionId).to.equal(session.id)
    expect((await successor.exists(`${path}/mine`))?.ephemeralOwner).to.equal(session.id)
    await successor.close()
    proxy.heal()
    await stateOf(client, 'expired')
  })
})

describe('the fault proxy', () => {
  it('records the frames of both directions', async () => {
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

  it('injects a fault at the k-th request with an opcode', async () => {
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
