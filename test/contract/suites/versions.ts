// What differs between the versions of the server.
import { expect } from 'chai'
import { aclOf, perms } from '../../../src/index.ts'
import { errnos, eventTypes, opcodes, operations } from '../../../src/protocol/index.ts'
import { openACL, suite } from '../suite.ts'

export const versions = suite('by its version,', it => {
  it('exists needs the READ permission since 3.8.4 and 3.9.2', async world => {
    const session = await world.session()
    await world.zk.create('/closed', '', { acl: [aclOf('world', 'anyone', perms.write | perms.admin)] })
    const { err } = await session.requestReply(operations.exists, { path: world.at('/closed'), watch: false })
    expect(err).to.equal(world.has('ZOOKEEPER-2590') ? errnos.NOAUTH : 0)
    await world.zk.setACL('/closed', openACL)
  })

  it('a check outside a multi is unknown since 3.8.5 and 3.9.3, and the connection is closed', async world => {
    const session = await world.session()
    const { err } = await session.requestReply(operations.check, { path: world.at('/nothing'), version: 0 })
    expect(err).to.equal(world.has('ZOOKEEPER-2623') ? errnos.UNIMPLEMENTED : errnos.NONODE)
    if (world.has('ZOOKEEPER-2623')) await session.whenClosed()
  })

  it('a create2 in a multi is answered with its Stat since 3.8.2', async world => {
    const session = await world.session()
    const body = { path: world.at('/a'), data: '', acl: openACL, flags: 0 }
    const [result] = await session.request(operations.multi, [{ type: opcodes.create2, body }])
    expect(result?.type).to.equal(world.has('ZOOKEEPER-4026') ? opcodes.create2 : opcodes.create)
  })

  it('an event has the zxid of its transaction since 3.9.0, and one that was missed has none', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await session.requestReply(operations.exists, { path, watch: true })
    const { zxid } = await session.requestReply(operations.create, { path, data: '', acl: openACL, flags: 0 })
    await session.request(operations.setWatches, {
      ...{ relativeZxid: 0n, dataWatches: [], existWatches: [path], childWatches: [] },
    })
    expect(session.eventZxids).to.deep.equal([world.has('ZOOKEEPER-4655') ? zxid : -1n, -1n])
  })

  it('a connection is told of what it missed of a node that it may not read, but no more since 3.9.6', async world => {
    const session = await world.session()
    const [data, children, created] = [world.at('/data'), world.at('/children'), world.at('/created')]
    const acl = [aclOf('world', 'anyone', perms.all & ~perms.read)]
    for (const path of ['/data', '/children', '/created']) await world.zk.create(path, '', { acl })
    await session.request(operations.setWatches, {
      ...{
        relativeZxid: 0n,
        dataWatches: [data, world.at('/gone')],
        existWatches: [created],
        childWatches: [children],
      },
    })
    const { NodeDataChanged, NodeDeleted, NodeCreated, NodeChildrenChanged } = eventTypes
    const hidden = [NodeDataChanged, NodeCreated, NodeChildrenChanged]
    const types = session.events.splice(0).map(({ type }) => type)
    expect(types).to.have.members(world.has('setWatches needs READ') ? [NodeDeleted] : [NodeDeleted, ...hidden])
    for (const path of ['/data', '/children', '/created']) await world.zk.setACL(path, openACL)
  })

  it('a connection can have a one-shot and a persistent watch on a path since 3.9.0', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await session.request(operations.addWatch, { path, mode: 0 })
    await session.requestReply(operations.exists, { path, watch: true })
    const change = async () => {
      await world.zk.create('/a')
      await world.zk.delete('/a')
      await session.request(operations.ping, {})
      return session.events.splice(0).length
    }
    // Before, the one-shot watch replaces the half of the persistent watch that is for the data.
    expect([await change(), await change()]).to.deep.equal(world.has('ZOOKEEPER-4466') ? [2, 2] : [2, 1])
  })
})
