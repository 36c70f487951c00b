import { expect } from 'chai'
import { connect, type Client, type WatchEvent } from '../../../src/index.ts'
import { NodeWatch } from '../../../src/recipes/node/node-watch.ts'
import { Server } from '../../../src/server/index.ts'
import { sharedServer } from '../../support/shared-server.ts'
import { until } from '../../../environment/until.ts'

const PATH = '/together'

/** Creates three nodes, and returns the zxid of the last of them. */
async function createNodes(client: Client): Promise<bigint> {
  await client.deleteRecursive(PATH)
  await client.ensurePath(PATH)
  const created = await Promise.all(['a', 'b', 'c'].map(name => client.create(`${PATH}/${name}`)))
  return created.at(-1)?.stat.czxid ?? 0n
}

const watchAll = (client: Client, since: bigint, stop = new AbortController()): NodeWatch[] | undefined => {
  const onChange = () => undefined
  const nodes = ['a', 'b', 'c'].map(name => ({ path: `${PATH}/${name}`, signal: stop.signal, onChange }))
  return NodeWatch.watchTogether(client, nodes, since)
}

const statusOf = (watches: NodeWatch[] | undefined) =>
  watches?.map(({ status, hasFired }) => `${status}${hasFired ? ', fired' : ''}`)

describe('NodeWatch.watchTogether', () => {
  let server: Server
  let client: Client

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    client = await connect(server.connectString, { dial: server.dial })
  })
  afterEach(async () => {
    await client.close()
    await server.close()
  })

  const tellsApart = async (zk: Client) => {
    const since = await createNodes(zk)
    await zk.setData(`${PATH}/b`, 'changed')
    await zk.delete(`${PATH}/c`)
    const watches = watchAll(zk, since)
    await zk.sync(PATH)
    expect(statusOf(watches)).to.deep.equal(['there', 'changed', 'gone'])
    await zk.delete(`${PATH}/a`)
    expect(statusOf(watches)).to.deep.equal(['gone, fired', 'changed', 'gone'])
  }

  it('tells nodes that are there from those that are missing or have changed, by one request', async () => {
    const { replies } = client.stats
    await tellsApart(client)
    // ensurePath, three creates, setData, delete, the watches, sync, delete; and deleteRecursive, which finds nothing.
    expect(client.stats.replies - replies).to.be.at.most(12)
  })

  it('tells them apart on Apache ZooKeeper', async () => {
    await using zk = await connect((await sharedServer()).connectString)
    await tellsApart(zk)
    await zk.deleteRecursive(PATH)
  })

  const keepsOthers = async (zk: Client) => {
    const since = await createNodes(zk)
    await zk.delete(`${PATH}/c`)
    const created: WatchEvent[] = []
    await zk.exists(`${PATH}/c`, { watch: event => void created.push(event) })
    const watches = watchAll(zk, since)
    await zk.sync(PATH)
    expect(statusOf(watches)).to.deep.equal(['there', 'there', 'gone'])
    expect(created).to.deep.equal([])
    await zk.create(`${PATH}/c`)
    await zk.sync(PATH)
    expect(created.map(({ type }) => type)).to.deep.equal(['NodeCreated'])
  }

  it('leaves a watch for the creation of a missing node, as the server does', async () => {
    await keepsOthers(client)
    expect(server.snapshot().watches.map(({ path }) => path)).to.have.members([`${PATH}/a`, `${PATH}/b`])
  })

  it('leaves such a watch on Apache ZooKeeper', async () => {
    await using zk = await connect((await sharedServer()).connectString)
    await keepsOthers(zk)
    await zk.deleteRecursive(PATH)
  })

  it('takes a later node with the name of one of them for a change', async () => {
    const since = await createNodes(client)
    await client.delete(`${PATH}/a`)
    await client.create(`${PATH}/a`)
    const watches = watchAll(client, since)
    await client.sync(PATH)
    expect(statusOf(watches)).to.deep.equal(['changed', 'there', 'there'])
  })

  it('removes the watches at the server when the signal aborts', async () => {
    const stop = new AbortController()
    watchAll(client, await createNodes(client), stop)
    await client.sync(PATH)
    expect(server.snapshot().watches).to.have.length(3)
    stop.abort()
    await client.settled()
    expect(server.snapshot().watches).to.deep.equal([])
  })

  it('sends nothing if the session has a persistent watch on one of the nodes, which the request would end', async () => {
    const since = await createNodes(client)
    await using watcher = await client.addWatch(`${PATH}/b`)
    expect(watchAll(client, since)).to.equal(undefined)
    await client.setData(`${PATH}/b`, 'changed')
    expect((await watcher.next()).value).to.have.property('type', 'NodeDataChanged')
  })

  it('sets no watch on the next connection if its request was lost', async () => {
    const since = await createNodes(client)
    server.faults.drop('setWatches')
    const watches = watchAll(client, since)
    await until(() => watches?.every(({ status }) => status === 'failed') === true)
    await client.whenConnected()
    await client.sync(PATH)
    expect(server.snapshot().watches).to.deep.equal([])
  })
})
