// Nodes, and what their Stats count.
import { expect } from 'chai'
import type { CreateMode, Stat } from '../../../src/index.ts'
import { errnos, operations, opcodes } from '../../../src/protocol/index.ts'
import { failureOf } from '../../support/settled.ts'
import { call } from '../../support/wire-session.ts'
import { until } from '../../support/until.ts'
import { chapter, errOf, openACL, type World } from '../suite.ts'

const statOf = async (zk: World['zk'], path: string) => (await zk.exists(path)) as Stat

export const nodes = chapter('nodes', it => {
  it('a new node has the transaction that made it in three places, and nothing counted', async ({ zk }) => {
    const { path, stat } = await zk.create('/a', 'four')
    expect(path).to.equal('/a')
    const { czxid, ctime } = stat
    expect(stat).to.deep.equal({
      ...{ czxid, mzxid: czxid, pzxid: czxid, ctime, mtime: ctime, dataLength: 4, numChildren: 0 },
      ...{ version: 0, cversion: 0, aversion: 0, ephemeralOwner: 0n },
    })
    expect(await statOf(zk, '/a')).to.deep.equal(stat)
  })

  it('its parent counts one change of its children, by that transaction, and no other', async ({ zk }) => {
    const before = await statOf(zk, '/')
    const { stat } = await zk.create('/a')
    const after = { ...before, cversion: before.cversion + 1, numChildren: 1, pzxid: stat.czxid }
    expect(await statOf(zk, '/')).to.deep.equal(after)
  })

  it('a deletion counts as a change of the children too, and is the parent’s last', async ({ zk }) => {
    const { stat } = await zk.create('/a')
    await zk.delete('/a')
    const after = await statOf(zk, '/')
    expect(after).to.include({ cversion: 2, numChildren: 0, version: 0 })
    expect(after.pzxid > stat.czxid).to.equal(true)
  })

  it('new data count as a version, by their transaction', async ({ zk }) => {
    const { stat } = await zk.create('/a', 'x')
    const next = await zk.setData('/a', 'longer')
    expect(next).to.deep.equal({ ...stat, version: 1, dataLength: 6, mzxid: next.mzxid, mtime: next.mtime })
    expect(next.mzxid > stat.mzxid).to.equal(true)
    expect(next.mtime).to.be.at.least(stat.mtime)
    expect((await zk.setData('/a', 'longer')).version, 'the same once more').to.equal(2)
  })

  it('new data have a time of their own', async ({ zk }) => {
    const { stat } = await zk.create('/a')
    await until(async () => (await zk.setData('/a', '')).mtime > stat.mtime)
    expect((await statOf(zk, '/a')).ctime).to.equal(stat.ctime)
  })

  it('a new access control list counts as an aversion, and leaves the rest alone', async ({ zk }) => {
    const { stat } = await zk.create('/a')
    expect(await zk.setACL('/a', openACL)).to.deep.equal({ ...stat, aversion: 1 })
    expect((await zk.getACL('/a')).stat).to.deep.equal({ ...stat, aversion: 1 })
  })

  it('a change of a child, or below it, is none of the parent’s', async ({ zk }) => {
    await zk.create('/a')
    await zk.create('/a/b')
    const before = await statOf(zk, '/')
    await zk.setData('/a', 'x')
    await zk.create('/a/c')
    await zk.delete('/a/b')
    expect(await statOf(zk, '/')).to.deep.equal(before)
  })

  it('null and empty data are two things', async ({ zk }) => {
    await zk.create('/null', null)
    await zk.create('/empty', '')
    expect(await zk.getData('/null')).to.have.property('data', null)
    expect((await zk.getData('/empty')).data).to.deep.equal(Buffer.alloc(0))
    const stat = await zk.setData('/empty', null)
    expect(stat.dataLength).to.equal(0)
    expect(await zk.getData('/empty')).to.deep.equal({ data: null, stat })
  })

  it('a version that is not the node’s is refused, and -1 is every version', async ({ zk }) => {
    await zk.create('/a')
    await zk.setData('/a', 'x')
    for (const version of [0, 2, -2]) {
      expect(await failureOf(zk.setData('/a', 'y', { version })), `${version}`).to.include({ code: 'BADVERSION' })
      expect(await failureOf(zk.delete('/a', { version })), `${version}`).to.include({ code: 'BADVERSION' })
    }
    for (const version of [1, -2])
      expect(await failureOf(zk.setACL('/a', openACL, { version })), `${version}`).to.include({ code: 'BADVERSION' })
    await zk.setData('/a', 'y', { version: 1 })
    await zk.setACL('/a', openACL, { version: 0 })
    await zk.delete('/a', { version: 2 })
  })

  it('children are listed by name, with and without a Stat, and counted at every depth', async world => {
    const { zk } = world
    for (const path of ['/a', '/a/b', '/a/b/c', '/ab']) await zk.create(path)
    expect((await zk.getChildren('/')).children).to.have.members(['a', 'ab'])
    const session = await world.session()
    const asked = { path: world.at('/'), watch: false }
    expect((await session.request(operations.getChildren, asked)).children).to.have.members(['a', 'ab'])
    const { children, stat } = await session.request(operations.getChildren2, asked)
    expect(children).to.have.members(['a', 'ab'])
    expect(stat).to.deep.equal(await statOf(zk, '/'))
    expect(await zk.getAllChildrenNumber('/')).to.equal(4)
    expect(await zk.getAllChildrenNumber('/a')).to.equal(2)
    expect(await zk.getAllChildrenNumber('/ab')).to.equal(0)
  })

  it('the nodes of the server itself are there, and stay', async world => {
    const session = await world.session()
    for (const path of ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']) {
      expect((await session.request(operations.exists, { path, watch: false })).stat.czxid, path).to.equal(0n)
      expect(await errOf(session, operations.delete, { path, version: -1 })).to.equal(errnos.BADARGUMENTS)
    }
    const { acl, stat } = await session.request(operations.getACL, { path: '/zookeeper/config' })
    expect(acl).to.deep.equal([{ perms: 1, id: { scheme: 'world', id: 'anyone' } }])
    expect(stat.aversion).to.equal(-1)
  })

  it('the empty path is the root’s other name to those who read, and none to those who write', async world => {
    const session = await world.session()
    const { exists, getACL, getChildren2, getData } = operations
    const reads = ['', '/'].map(path => [
      ...[exists, getData, getChildren2].map(op => call(op as typeof getData, { path, watch: false })),
      call(getACL, { path }),
    ])
    const heard = await session.exchange(reads.flat())
    const bodies = heard.map(each => ('reply' in each ? each.reply.body : undefined))
    expect(bodies.slice(0, 4)).to.deep.equal(bodies.slice(4))
    expect(bodies).not.to.include(undefined)
    const whole = { path: '', data: '', acl: openACL, flags: 0, version: -1 }
    for (const write of [operations.create2, operations.delete, operations.setData, operations.setACL])
      expect(await errOf(session, write as typeof operations.create2, whole), write.name).to.equal(errnos.BADARGUMENTS)
  })

  it('each write takes a number of its own, also one that is refused', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const zxids = [
      await session.requestReply(operations.create, { path, data: '', acl: openACL, flags: 0 }),
      await session.requestReply(operations.create, { path, data: '', acl: openACL, flags: 0 }),
      await session.requestReply(operations.setData, { path, data: '', version: 5 }),
      await session.requestReply(operations.delete, { path, version: -1 }),
    ].map(({ zxid }) => zxid)
    expect(new Set(zxids)).to.have.property('size', 4)
    expect(zxids).to.deep.equal([...zxids].sort((a, b) => (a < b ? -1 : 1)))
  })

  it('a node may hold as much as a request, and not a byte more', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const bytes = (length: number) => ({ path, data: Buffer.alloc(length), version: -1 })
    await world.zk.create('/a')
    // Beside the data: the header, the path, the version, and two lengths.
    const most = 0xf_ffff - 8 - 4 - path.length - 4 - 4
    await session.request(operations.setData, bytes(most))
    expect((await session.request(operations.getData, { path, watch: false })).data).to.have.length(most)
    const cut = await failureOf(session.request(operations.setData, bytes(most + 1)))
    expect(String(cut)).to.match(/closed|EPIPE|ECONNRESET/)
  })

  it('sync answers with its path, whether it is there or not', async world => {
    const session = await world.session()
    for (const path of ['/', world.at('/nothing'), ''])
      expect(await session.request(operations.sync, { path })).to.deep.equal({ path })
  })

  it('what it does not know it refuses, or it hangs up', async world => {
    const session = await world.session()
    expect(await errOf(session, operations.reconfig, reconfiguration)).to.equal(errnos.RECONFIGDISABLED)
    const unknown = { ...operations.ping, name: 'unknown', opcode: 4711 }
    expect(await errOf(session, unknown, {})).to.equal(errnos.UNIMPLEMENTED)
    await session.whenClosed()
  })
})

const reconfiguration = { joiningServers: null, leavingServers: null, newMembers: null, curConfigId: -1n }

export const modes = chapter('create modes', it => {
  const all: readonly CreateMode[] = [
    ...(['persistent', 'persistentSequential', 'ephemeral', 'ephemeralSequential', 'container'] as const),
    ...(['persistentTTL', 'persistentSequentialTTL'] as const),
  ]
  for (const mode of all)
    it(mode, async ({ zk }) => {
      const { path, stat } = await zk.create('/x', 'x', { mode, ...(mode.endsWith('TTL') && { ttl: 100_000 }) })
      expect(path).to.equal(mode.includes('Sequential') ? '/x0000000000' : '/x')
      expect(stat).to.include({
        ephemeralOwner: mode.startsWith('ephemeral') ? zk.sessionId : 0n,
        ...{ version: 0, dataLength: 1 },
      })
      expect((await zk.getData(path)).data?.toString()).to.equal('x')
    })

  it('a number comes from all children that ever were, counted for each parent', async ({ zk }) => {
    const numbered = async (path: string) =>
      (await zk.create(path, '', { mode: 'persistentSequential' })).path.slice(path.length)
    for (const path of ['/a', '/b', '/a/x']) await zk.create(path)
    expect(await numbered('/a/n-')).to.equal('0000000001')
    await zk.delete('/a/n-0000000001')
    await zk.delete('/a/x')
    expect(await numbered('/a/other-')).to.equal('0000000002')
    expect(await numbered('/b/')).to.equal('0000000000')
    expect(await numbered('/')).to.equal('0000000002')
  })

  it('a refused create takes no number', async ({ zk }) => {
    await zk.create('/a')
    await failureOf(zk.create('/a'))
    await failureOf(
      zk.multi([
        { create: '/n-', mode: 'persistentSequential' },
        { check: '/nothing', version: 0 },
      ]),
    )
    expect((await zk.create('/n-', '', { mode: 'persistentSequential' })).path).to.equal('/n-0000000001')
  })

  it('an ephemeral node has no children, and goes with its session', async world => {
    const other = await world.client()
    await other.create('/e', '', { mode: 'ephemeral' })
    expect(await failureOf(world.zk.create('/e/child'))).to.include({ code: 'NOCHILDRENFOREPHEMERALS' })
    await other.create('/f', '', { mode: 'ephemeral' })
    await other.close()
    const stat = await statOf(world.zk, '/')
    expect(stat).to.include({ numChildren: 0, cversion: 4 })
    // Both by the transaction that closed the session.
    expect((await world.zk.create('/next')).stat.czxid > stat.pzxid).to.equal(true)
  })

  it('a session’s own ephemeral nodes are listed below what they begin with', async world => {
    const { zk } = world
    const other = await world.client()
    await other.create('/theirs', '', { mode: 'ephemeral' })
    await zk.create('/a')
    for (const path of ['/a/1', '/a/2', '/ab']) await zk.create(path, '', { mode: 'ephemeral' })
    const session = await world.session()
    expect((await session.request(operations.getEphemerals, { prefixPath: '/' })).ephemerals).to.deep.equal([])
    expect(await zk.getEphemerals()).to.have.members(['/a/1', '/a/2', '/ab'])
    expect(await zk.getEphemerals('/a')).to.have.members(['/a/1', '/a/2', '/ab'])
    expect(await zk.getEphemerals('/a/1')).to.deep.equal(['/a/1'])
    expect(await zk.getEphemerals('/nothing')).to.deep.equal([])
  })

  it('a ttl is one to 2^40 - 1 milliseconds, and asks for its mode', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const ttls: [ttl: number, err: number][] = [
      [0, errnos.BADARGUMENTS],
      [-1, errnos.BADARGUMENTS],
      [2 ** 40, errnos.BADARGUMENTS],
      [2 ** 40 - 1, 0],
    ]
    for (const [ttl, err] of ttls)
      expect(await errOf(session, operations.createTTL, { path, data: '', acl: openACL, flags: 5, ttl })).to.equal(err)
    for (const flags of [5, 6, 7, -1])
      expect(await errOf(session, operations.create2, { path, data: '', acl: openACL, flags })).to.equal(
        errnos.BADARGUMENTS,
      )
  })

  it('in a multi it is the flags that say what is created, and a plain create with those of a ttl is not read', async world => {
    const session = await world.session()
    const item = (flags: number) => ({
      type: opcodes.create2,
      body: { path: world.at('/a'), data: '', acl: openACL, flags },
    })
    expect(await errOf(session, operations.multi, [item(5)])).to.equal(errnos.MARSHALLINGERROR)
    const [outcome] = await session.request(operations.multi, [item(4)])
    expect(outcome?.type, 'a container is told with its Stat').to.equal(opcodes.create2)
  })
})
