import { expect } from 'chai'
import { connect, ZooKeeperError } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { OwnNode, type NodePlan } from '../../../src/recipes/node/own-node.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'

const plan = {
  ...{ data: '', acl: undefined, sequenceOf: undefined, isUnique: true, mark: undefined },
  path: () => '/node',
  ensureParent: () => Promise.reject(new Error('the parent exists')),
} satisfies Omit<NodePlan, 'client'>

describe('OwnNode', () => {
  it('deletes a node that only remove() finds, even if its number can repeat', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    server.setSequenceCounter('/', 0x7fff_ffff)
    server.faults.replace('sync', 'THROTTLEDOP')
    const ownNode = new OwnNode({
      ...{ ...plan, client, sequenceOf: (name: string) => Number(name.slice(-10)) },
      async create(path, data) {
        await client.create(path, data, { mode: 'ephemeralSequential' })
        throw new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown' })
      },
    })
    const { signal } = new AbortController()
    expect(await failureOf(ownNode.create(() => Promise.resolve(), signal))).to.have.property('code', 'THROTTLEDOP')
    expect(await client.exists('/node2147483647')).not.to.equal(null)
    await ownNode.remove()
    expect(await client.exists('/node2147483647')).to.equal(null)
  })

  it('does not take the node of another session for its own if both draw the same random numbers', async () => {
    await using server = await Server.start({ listen: false })
    const open = () => connect(server.connectString, { dial: server.dial, random: () => 0.5 })
    await using holder = await open()
    await using client = await open()
    const held = await new Mutex(holder, '/lock').acquire()
    const { triggered } = server.faults.ignore('create')
    const next = new Mutex(client, '/lock').acquire()
    const isSettled = trackSettled(next)
    await triggered
    while (!isSettled() && (await holder.getChildren('/lock')).children.length < 2) await client.whenConnected()
    expect(isSettled()).to.equal(false)
    await held.release()
    await (await next).release()
  })

  it('repeats the caller’s read after REQUESTTIMEOUT from create, because the first read may have preceded the create', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    const ownNode = new OwnNode({
      ...{ ...plan, client },
      async create(path, data) {
        await client.create(path, data, { mode: 'ephemeral' })
        throw new ZooKeeperError('REQUESTTIMEOUT', { fate: 'unknown' })
      },
    })
    let reads = 0
    expect(await ownNode.create(() => Promise.resolve(++reads), new AbortController().signal)).to.equal(2)
    expect(ownNode.node.path).to.equal('/node')
    await ownNode.remove()
    expect(await client.exists('/node')).to.equal(null)
  })

  it('calls nobody back any more by a watch that it has replaced', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    const ownNode = new OwnNode({ ...plan, client })
    await ownNode.create(() => Promise.resolve(), new AbortController().signal)
    const calls: string[] = []
    ownNode.watch(() => calls.push('first'))
    await client.sync('/')
    server.dropConnections()
    await client.sync('/').catch(() => client.whenConnected())
    ownNode.watch(() => calls.push('second'))
    await client.sync('/')
    calls.length = 0
    await client.delete('/node')
    await client.sync('/')
    expect(calls).to.deep.equal(['second'])
  })

  it('removes its watch on a later node with its name when it is removed, and leaves that node', async () => {
    await using server = await Server.start({ listen: false })
    const open = () => connect(server.connectString, { dial: server.dial })
    await using client = await open()
    await using other = await open()
    const ownNode = new OwnNode({ ...plan, client, isUnique: false })
    await ownNode.create(() => Promise.resolve(), new AbortController().signal)
    await other.delete('/node')
    await other.create('/node')
    ownNode.watch()
    await client.sync('/')
    expect(server.snapshot().watches).to.have.length(1)
    await ownNode.remove()
    await client.settled()
    expect(server.snapshot().watches).to.deep.equal([])
    expect(await other.exists('/node')).not.to.equal(null)
  })

  it('does not look for a node that the server has refused to create', async () => {
    const sent: number[] = []
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, {
      dial: server.dial,
      onFrame: opcodesInto(sent),
    })
    server.faults.replace('create', 'NOAUTH')
    const ownNode = new OwnNode({ ...plan, client })
    const creating = ownNode.create(() => Promise.resolve(), new AbortController().signal)
    expect(await failureOf(creating)).to.have.property('code', 'NOAUTH')
    await ownNode.remove()
    expect(sent).to.deep.equal([opcodes.create2])
  })
})
